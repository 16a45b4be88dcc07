// SPDX-License-Identifier: Apache-2.0
// One good plugin among all the hostile ones, through the whole selection.
#include <chrono>
#include <fstream>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/loader/hostile/scene.hpp"
#include "hbf/selection.hpp"

namespace hbf {
namespace {

using hostile::Scene;

std::string joined(const std::vector<std::filesystem::path> &paths) {
    std::string text;
    for (const auto &path : paths) text += (text.empty() ? "" : ",") + path.string();
    return text;
}

Result<Selection> run(const std::string &path, std::map<std::string, std::string> settings = {},
                      SelectOptions options = {}) {
    settings["plugins.path"] = path;
    ConfigSources sources;
    sources.root = "/nonexistent-root-of-a-test";
    sources.privileged = true; // neither the user's environment nor their files
    sources.api = std::move(settings);
    const auto config = Config::load(sources);
    if (!config) return tl::unexpected(config.error());
    return select_plugins(*config, options);
}

SelectOptions uncached(bool open = false) {
    SelectOptions options;
    options.use_cache = false;
    options.open = open;
    return options;
}

const Candidate *find(const Selection &selection, const std::string &name) {
    for (const Candidate &candidate : selection.candidates) {
        if (candidate.name == name) return &candidate;
    }
    return nullptr;
}

bool noted(const Selection &selection, const std::string &words) {
    for (const std::string &note : selection.notes) {
        if (note.find(words) != std::string::npos) return true;
    }
    return false;
}

TEST(Hostile, EveryOneGetsItsReasonAndTheGoodOneIsChosen) {
    Scene scene;
    const auto expected = hostile::stage_everything(scene);
    const auto selection = run(joined(expected.path), {{"plugins.probe_timeout_s", "5"}}, uncached());
    ASSERT_TRUE(selection) << selection.error().message;
    std::set<std::string> seen;
    for (const Candidate &candidate : selection->candidates) {
        EXPECT_TRUE(seen.insert(candidate.name).second) << candidate.name << " is there twice";
        const auto wanted = expected.reasons.find(candidate.name);
        ASSERT_NE(wanted, expected.reasons.end())
            << candidate.name << " " << to_string(candidate.reason) << " " << candidate.detail;
        EXPECT_EQ(to_string(candidate.reason), wanted->second) << candidate.name << ": " << candidate.detail;
        EXPECT_FALSE(candidate.detail.empty()) << candidate.name;
        EXPECT_EQ(candidate.detail.find('\x1b'), std::string::npos);
    }
    EXPECT_EQ(seen.size(), expected.reasons.size());
    ASSERT_NE(selection->primary(), nullptr);
    EXPECT_EQ(selection->primary()->name, "good");
    ASSERT_EQ(selection->primary()->devices.size(), 1u);
    EXPECT_EQ(selection->primary()->devices[0].name, "a device\\x1b[31m of a test");
    ASSERT_EQ(selection->primary()->devices[0].tiers.size(), 1u);
    EXPECT_EQ(selection->primary()->devices[0].tiers[0].name, "memory0");
    EXPECT_TRUE(
        noted(*selection,
              "manifest_unknown_key.plugin.toml:9:1: unknown key \"priorty\" has no effect (did you mean \"priority\"?)"));
    EXPECT_TRUE(noted(*selection, "plugin probe_chatter: printed 23 bytes while it was probed: a word from the driver"));
    EXPECT_NE(find(*selection, "manifest_wrong_type")->detail.find("manifest_wrong_type.plugin.toml:9:12"),
              std::string::npos)
        << find(*selection, "manifest_wrong_type")->detail;
    EXPECT_NE(find(*selection, "constructor_ill")->detail.find("SIGILL in load"), std::string::npos);
    EXPECT_NE(find(*selection, "create_segv")->detail.find("SIGSEGV in create"), std::string::npos);
}

TEST(Hostile, TheOrderIsTheSameEachTime) {
    Scene scene;
    const auto folder = scene.folder("plugins");
    for (const char *name : {"good", "better", "stripped", "zeta", "alpha", "query_null", "a_text"})
        scene.plugin(folder, name);
    hostile::write_bytes(folder / "a_text.so", "text");
    std::vector<std::string> first;
    for (int i = 0; i < 100; ++i) {
        SelectOptions options; // from the cache after the first run, where there is one
        options.open = false;
        options.use_cache = i % 10 != 0;
        const auto selection = run(folder.string(), {}, options);
        ASSERT_TRUE(selection);
        std::vector<std::string> order;
        for (const Candidate &candidate : selection->candidates)
            order.push_back(fmt::format("{} {}", candidate.name, to_string(candidate.reason)));
        if (i == 0) first = order;
        ASSERT_EQ(order, first) << "run " << i;
    }
    EXPECT_EQ(first.front(), "better selected"); // 1.10.0 before 1.9.0
    EXPECT_EQ(first[1], "alpha selected");
}

TEST(Hostile, ACrashHidesNobody) {
    Scene scene;
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "constructor_segv", "chameleon.so", "priority = 1000\n");
    scene.plugin(folder, "good");
    const auto selection = run(folder.string(), {}, uncached(true));
    ASSERT_TRUE(selection);
    ASSERT_TRUE(selection->primary());
    EXPECT_EQ(selection->primary()->name, "good");
    ASSERT_NE(selection->primary()->plugin, nullptr);
    EXPECT_EQ(selection->primary()->stage, Stage::open);
    EXPECT_EQ(find(*selection, "constructor_segv")->plugin, nullptr);
}

TEST(Hostile, AnUnmetPinIsAnErrorWithItsReason) {
    Scene scene;
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "good");
    scene.plugin(folder, "probe_segv");
    scene.plugin(folder, "manifest_bad", "chameleon.so", "priority = \"x\"\n");
    const auto crashed = run(folder.string(), {{"plugins.pin", "probe_segv"}}, uncached());
    ASSERT_FALSE(crashed);
    EXPECT_NE(crashed.error().message.find("probe_crashed"), std::string::npos) << crashed.error().message;
    const auto broken = run(folder.string(), {{"plugins.pin", "manifest_bad"}}, uncached());
    ASSERT_FALSE(broken);
    EXPECT_NE(broken.error().message.find("manifest_invalid"), std::string::npos) << broken.error().message;
    const auto denied = run(folder.string(), {{"plugins.pin", "good"}, {"plugins.deny", "good"}}, uncached());
    ASSERT_FALSE(denied);
    EXPECT_NE(denied.error().message.find("denied_by_config"), std::string::npos) << denied.error().message;
    EXPECT_TRUE(run(folder.string(), {{"plugins.pin", "good"}}, uncached()));
}

TEST(Hostile, AnUnknownNameIsAnErrorWithASuggestion) {
    Scene scene;
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "good");
    for (const char *key : {"plugins.allow", "plugins.deny", "plugins.pin"}) {
        const auto wrong = run(folder.string(), {{key, "goood"}}, uncached());
        ASSERT_FALSE(wrong) << key;
        EXPECT_EQ(wrong.error().code, Code::invalid);
        EXPECT_NE(wrong.error().message.find("did you mean \"good\"?"), std::string::npos) << wrong.error().message;
    }
}

TEST(Hostile, PolicyChoosesAndOrders) {
    Scene scene;
    const auto folder = scene.folder("plugins");
    for (const char *name : {"alpha", "beta", "gamma"}) scene.plugin(folder, name);
    const auto allowed = run(folder.string(), {{"plugins.allow", "gamma,alpha"}}, uncached());
    ASSERT_TRUE(allowed);
    EXPECT_EQ(allowed->candidates[0].name, "gamma");
    EXPECT_EQ(allowed->candidates[1].name, "alpha");
    EXPECT_EQ(find(*allowed, "beta")->reason, Reason::not_in_allow_list);
    EXPECT_EQ(find(*allowed, "beta")->stage, Stage::policy);
    const auto denied = run(folder.string(), {{"plugins.deny", "alpha"}}, uncached());
    ASSERT_TRUE(denied);
    EXPECT_EQ(find(*denied, "alpha")->reason, Reason::denied_by_config);
    const auto pinned = run(folder.string(), {{"plugins.pin", "gamma"}}, uncached());
    ASSERT_TRUE(pinned);
    EXPECT_EQ(pinned->primary()->name, "gamma");
}

TEST(Hostile, AnEmulationServesOnlyWithoutRealDeviceOrPinned) {
    Scene scene;
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "real");
    scene.plugin(folder, "fake");
    std::string text = hostile::manifest_text("fake", "priority = 100\n");
    text.replace(text.find("\"device\""), 8, "\"emulation\"");
    hostile::write_bytes(folder / "fake.plugin.toml", text);
    const auto both = run(folder.string(), {}, uncached());
    ASSERT_TRUE(both);
    EXPECT_EQ(both->primary()->name, "real");
    EXPECT_EQ(find(*both, "fake")->reason, Reason::outranked);
    EXPECT_NE(find(*both, "fake")->detail.find("real 1.9.0"), std::string::npos);
    const auto alone = run(folder.string(), {{"plugins.deny", "real"}}, uncached());
    ASSERT_TRUE(alone);
    ASSERT_TRUE(alone->primary());
    EXPECT_EQ(alone->primary()->name, "fake");
    EXPECT_TRUE(alone->primary()->devices[0].emulated); // although its probe says it is real
    EXPECT_TRUE(alone->primary()->devices[0].tiers[0].emulated);
    const auto pinned = run(folder.string(), {{"plugins.pin", "fake"}}, uncached());
    ASSERT_TRUE(pinned);
    EXPECT_EQ(pinned->primary()->name, "fake");
    EXPECT_EQ(find(*pinned, "real")->reason, Reason::selected);
}

TEST(Hostile, OfTwoWithOneNameTheBetterServes) {
    Scene scene;
    const auto first = scene.folder("first"), second = scene.folder("second");
    scene.plugin(first, "good");
    scene.plugin(second, "good", "chameleon.so", "priority = 1\n");
    const auto selection = run(first.string() + "," + second.string(), {}, uncached());
    ASSERT_TRUE(selection);
    ASSERT_EQ(selection->candidates.size(), 2u);
    EXPECT_EQ(selection->candidates[0].manifest, second / "good.plugin.toml");
    EXPECT_EQ(selection->candidates[1].reason, Reason::duplicate_name);
    EXPECT_NE(selection->candidates[1].detail.find((second / "good.plugin.toml").string()), std::string::npos);
}

TEST(Hostile, NothingFoundIsNoError) {
    Scene scene;
    const auto selection = run((scene.top() / "missing").string(), {}, uncached());
    ASSERT_TRUE(selection);
    EXPECT_EQ(selection->primary(), nullptr);
    EXPECT_TRUE(noted(*selection, "missing"));
}

TEST(Hostile, AFolderThatOthersCanWriteToIsNotSearchedForItsLibraries) {
    Scene scene;
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "lured", "run_path.so");
    const auto safe = run(folder.string(), {}, uncached());
    ASSERT_TRUE(safe);
    EXPECT_NE(find(*safe, "lured")->reason, Reason::untrusted_path) << find(*safe, "lured")->detail;
    scene.folder("plugins/libs", 0777);
    const auto open = run(folder.string(), {}, uncached());
    ASSERT_TRUE(open);
    EXPECT_EQ(find(*open, "lured")->reason, Reason::untrusted_path);
    EXPECT_NE(find(*open, "lured")->detail.find("\"$ORIGIN/libs\""), std::string::npos) << find(*open, "lured")->detail;
}

TEST(Hostile, TheNumberOfCandidatesIsBounded) {
    Scene scene;
    const auto folder = scene.folder("plugins");
    for (int i = 0; i < 300; ++i) scene.manifest(folder, fmt::format("p{}", i));
    const auto selection = run(folder.string(), {}, uncached());
    ASSERT_TRUE(selection);
    EXPECT_EQ(selection->candidates.size(), 256u);
    EXPECT_TRUE(noted(*selection, "more than 256"));
}

TEST(Hostile, CreateFailedIsNotedAndAnErrorForAPin) {
    Scene scene;
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "alpha");
    scene.plugin(folder, "beta");
    auto selection = run(folder.string(), {{"plugins.pin", "beta"}}, uncached());
    ASSERT_TRUE(selection);
    const Error cause{Code::exhausted, "full", no_place, ""};
    EXPECT_TRUE(mark_create_failed(*selection, "alpha", cause));
    EXPECT_EQ(find(*selection, "alpha")->reason, Reason::create_failed);
    EXPECT_EQ(find(*selection, "alpha")->detail, "exhausted: full");
    EXPECT_FALSE(mark_create_failed(*selection, "beta", cause));
    EXPECT_EQ(selection->primary(), nullptr);
}

TEST(Hostile, CancellingEndsTheProbes) {
    Scene scene;
    const auto folder = scene.folder("plugins");
    scene.plugin(folder, "probe_hang");
    SelectOptions options = uncached();
    int asked = 0;
    options.cancelled = [&asked] { return ++asked > 3; };
    const auto start = std::chrono::steady_clock::now();
    const auto selection = run(folder.string(), {{"plugins.probe_timeout_s", "60"}}, options);
    ASSERT_FALSE(selection);
    EXPECT_EQ(selection.error().code, Code::cancelled);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

} // namespace
} // namespace hbf
