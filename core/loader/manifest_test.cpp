// SPDX-License-Identifier: Apache-2.0
#include <random>

#include <gtest/gtest.h>

#include "core/loader/hostile/scene.hpp"
#include "core/loader/manifest.hpp"
#include "hbf/abi/version.h"

namespace hbf::loader {
namespace {

std::string text(const std::string &extra = "") {
    return hostile::manifest_text("acme", extra);
}

std::string error_of(const std::string &manifest) {
    const auto parsed = parse_manifest(manifest, "acme.plugin.toml");
    return parsed ? "" : parsed.error().message;
}

std::string replaced(const std::string &from, const std::string &to) {
    std::string manifest = text();
    manifest.replace(manifest.find(from), from.size(), to);
    return manifest;
}

TEST(Manifest, EveryKeyIsRead) {
    const auto manifest = parse_manifest(
        text("priority = -3\narch = [\"x86_64\", \"aarch64\"]\n[needs]\npci = [\"1b36:*\", \"1B36:0010:01\"]\n"
             "nodes = [\"/dev/acme*\"]\ndriver_files = [\"libacme.so.1\"]\nenvironment = [\"ACME_*\"]\n"),
        "f");
    ASSERT_TRUE(manifest) << manifest.error().message;
    EXPECT_EQ(manifest->name, "acme");
    EXPECT_EQ(manifest->plugin_file, "acme.so");
    EXPECT_EQ(manifest->abi_min, HBF_ABI_MAKE(0, 1));
    EXPECT_FALSE(manifest->emulation);
    EXPECT_EQ(manifest->priority, -3);
    EXPECT_EQ(manifest->arch.size(), 2u);
    EXPECT_EQ(manifest->pci.size(), 2u);
    EXPECT_EQ(manifest->nodes, std::vector<std::string>{"/dev/acme*"});
    EXPECT_EQ(manifest->driver_files, std::vector<std::string>{"libacme.so.1"});
    EXPECT_EQ(manifest->environment, std::vector<std::string>{"ACME_*"});
    EXPECT_TRUE(manifest->warnings.empty());
}

TEST(Manifest, WrongTypesSayLineAndColumn) {
    EXPECT_EQ(error_of(text("priority = \"high\"\n")),
              "acme.plugin.toml:9:12: \"priority\" must be an integer, not a string");
    EXPECT_EQ(error_of(replaced("\"acme\"", "7")), "acme.plugin.toml:2:8: \"name\" must be a string, not an integer");
    EXPECT_EQ(error_of(text("[needs]\npci = \"1b36:*\"\n")),
              "acme.plugin.toml:10:7: \"needs.pci\" must be a list, not a string");
    EXPECT_EQ(error_of(text("[needs]\nnodes = [1]\n")),
              "acme.plugin.toml:10:10: \"needs.nodes\" must hold strings that are not empty, not an integer");
    EXPECT_EQ(error_of(text("needs = 1\n")), "acme.plugin.toml:9:9: \"needs\" must be a table, not an integer");
}

TEST(Manifest, UnknownKeysWarn) {
    const auto manifest = parse_manifest(text("priorty = 1\n[needs]\nnode = []\n[extra]\nx = 1\n"), "f");
    ASSERT_TRUE(manifest) << manifest.error().message;
    ASSERT_EQ(manifest->warnings.size(), 3u);
    EXPECT_EQ(manifest->warnings[0].substr(0, 28), "f:12:2: unknown key \"extra\" ");
    EXPECT_EQ(manifest->warnings[1], "f:9:1: unknown key \"priorty\" has no effect (did you mean \"priority\"?)");
    EXPECT_EQ(manifest->warnings[2], "f:11:1: unknown key \"needs.node\" has no effect (did you mean \"nodes\"?)");
}

TEST(Manifest, WhatIsMissingIsNamed) {
    for (const char *key : {"format", "name", "vendor", "version", "library", "abi_min", "abi_max", "kind"}) {
        std::string manifest = text();
        const size_t at = manifest.find(key);
        manifest.erase(at, manifest.find('\n', at) + 1 - at);
        EXPECT_NE(error_of(manifest).find(std::string("\"") + key + "\" is missing"), std::string::npos)
            << error_of(manifest);
    }
}

TEST(Manifest, BadValuesAreRefused) {
    for (const auto &[from, to] :
         std::initializer_list<std::pair<const char *, const char *>>{{"format = 1", "format = 2"},
                                                                      {"\"acme\"", "\"Acme\""},
                                                                      {"\"acme\"", "\"\""},
                                                                      {"\"acme\"", "\"a/b\""},
                                                                      {"\"acme.so\"", "\"/acme.so\""},
                                                                      {"\"acme.so\"", "\"../acme.so\""},
                                                                      {"\"acme.so\"", "\"x/../../acme.so\""},
                                                                      {"\"acme.so\"", "\"./acme.so\""},
                                                                      {"\"acme.so\"", "\"a//b.so\""},
                                                                      {"\"acme.so\"", "\"\""},
                                                                      {"\"acme.so\"", "\"a\\u0000b\""},
                                                                      {"\"0.1\"", "\"0\""},
                                                                      {"\"0.1\"", "\"0.1.2\""},
                                                                      {"\"0.1\"", "\"0.99999\""},
                                                                      {"\"0.1\"", "\"0.2\""},
                                                                      {"\"0.1\"", "\"\""},
                                                                      {"\"device\"", "\"gpu\""},
                                                                      {"\"Test\"", "\"a\\u001b[2J\""}}) {
        EXPECT_NE(error_of(replaced(from, to)), "") << from << " -> " << to;
    }
    EXPECT_EQ(error_of(replaced("acme.so", "lib/acme.so")), "");
    for (const char *pci :
         {"", "1b36", "1b36:", ":*", "*:*", "1b36:*:", "1b36:*:0", "1b36:*:030", "1b36:12345", "g000:*", "1b36:*:03:00"}) {
        EXPECT_NE(error_of(text("[needs]\npci = [\"" + std::string(pci) + "\"]\n")), "") << pci;
    }
    for (const char *node : {"acme", "/proc/x", "/dev/../etc/passwd"}) {
        EXPECT_NE(error_of(text("[needs]\nnodes = [\"" + std::string(node) + "\"]\n")), "") << node;
    }
}

TEST(Manifest, SizesAreBounded) {
    EXPECT_NE(error_of(""), "");
    EXPECT_NE(error_of(" \n\t\n"), "");
    EXPECT_NE(error_of(replaced("Test", std::string(257, 'x'))), "");
    EXPECT_NE(error_of(text("x = " + std::string(2000, '[') + "\n")), "");
    EXPECT_NE(error_of(text("# " + std::string(2000, 'c') + "\n")), "");
    std::string deep;
    for (int i = 0; i < 60; ++i) deep += "[" + std::string("a") + std::string(500, '.') + "]\n";
    EXPECT_NE(error_of(text(deep)), "");
    std::string many = "[needs]\npci = [";
    for (int i = 0; i < 65; ++i) many += "\"1b36:*\",\n";
    EXPECT_NE(error_of(text(many + "]\n")), "");
    hostile::Scene scene;
    hostile::write_bytes(scene.top() / "huge", text() + std::string(70000, '\n'));
    EXPECT_NE(read_manifest(scene.top() / "huge").error().message.find("larger than 65536 bytes"), std::string::npos);
}

TEST(Manifest, KeysThatStartLikeNoneAreRefused) {
    for (const char *line : {"[.a]\n", "[[.a]]\n", ".a = 1\n", "[a..b]\n", "a. = 1\n", "= 1\n", "[]\n", "[a.]\n",
                             "x = {.a = 1}\n", "\xc3\xa4 = 1\n", "x = 1 \xc3\xa9\n"}) {
        EXPECT_NE(error_of(text(line)), "") << line;
    }
}

TEST(Manifest, DeepDottedKeysAreRefused) {
    std::string nested;
    for (int i = 0; i < 500; ++i) nested += i ? ".a" : "a";
    EXPECT_EQ(error_of(text("[" + nested + "]\n" + nested + " = 1\n")),
              "acme.plugin.toml:9:33: a key of more than 16 parts");
}

TEST(Manifest, RandomDamageIsSurvived) {
    const std::string good = text("priority = 1\n[needs]\npci = [\"1b36:*\"]\n");
    std::mt19937 random(7);
    for (int round = 0; round < 5000; ++round) {
        std::string damaged = good;
        for (unsigned flips = 1 + random() % 4; flips > 0; --flips)
            damaged[random() % damaged.size()] = static_cast<char>(random());
        const auto parsed = parse_manifest(damaged, "f");
        if (!parsed) {
            for (const char c : parsed.error().message)
                ASSERT_FALSE(static_cast<unsigned char>(c) < 0x20) << "control byte in a message";
        }
    }
    for (size_t length = 0; length < good.size(); ++length) error_of(good.substr(0, length));
}

TEST(Manifest, PciPatternsMatch) {
    PciDevice device;
    device.vendor = 0x1b36;
    device.device = 0x0010;
    device.class_code = 0x010802;
    for (const char *pattern : {"1b36:*", "1B36:0010", "1b36:*:01", "1b36:0010:0108", "1b36:*:010802"})
        EXPECT_TRUE(pci_matches(pattern, device)) << pattern;
    for (const char *pattern : {"1b37:*", "1b36:0011", "1b36:*:03", "1b36:0010:0107", "1b36:*:010803"})
        EXPECT_FALSE(pci_matches(pattern, device)) << pattern;
}

TEST(Manifest, UnknownKeysAreNamedUpToANumber) {
    std::string keys;
    for (int i = 0; i < 5000; ++i) keys += "k" + std::to_string(i) + " = 1\n";
    const auto manifest = parse_manifest(text(keys), "f");
    ASSERT_TRUE(manifest) << manifest.error().message;
    EXPECT_EQ(manifest->warnings.size(), 17u);
    EXPECT_EQ(manifest->warnings.back(), "f: and more unknown keys");
}

} // namespace
} // namespace hbf::loader
