// SPDX-License-Identifier: Apache-2.0
// Whatever happens to a file that a passing check has read, the check no longer passes.
#include <functional>

#include <gtest/gtest.h>

#include "core/common/read_file.hpp"
#include "core/host/parse.hpp"
#include "tools/doctor/doctor.hpp"
#include "tools/doctor/testing/machines.hpp"

namespace hbf::tools::doctor {
namespace {

namespace fs = std::filesystem;

struct Damage {
    const char *name;
    std::function<void(test::FakeMachine &, const std::string &)> to;
};

const std::vector<Damage> &damages() {
    static const auto text = [](std::string content) {
        return [content = std::move(content)](test::FakeMachine &machine, const std::string &path) {
            machine.remove(path).file(path, content);
        };
    };
    static const std::vector<Damage> all = {
        {"removed", [](test::FakeMachine &machine, const std::string &path) { machine.remove(path); }},
        {"a folder", [](test::FakeMachine &machine, const std::string &path) { machine.remove(path).folder(path); }},
        {"a loop of links", [](test::FakeMachine &machine,
                               const std::string &path) { machine.remove(path).link(path, fs::path(path).filename()); }},
        {"a link to this machine",
         [](test::FakeMachine &machine, const std::string &path) { machine.remove(path).link(path, "/" + path); }},
        {"empty", text("")},
        {"only a line's end", text("\n")},
        {"negative", text("-1\n")},
        {"a large number", text("99999999999999999999999999\n")},
        {"words", text("quite something else\n")},
        {"binary", text(std::string("\x7f"
                                    "ELF\x02\x01\0\0\xff\xfe",
                                    10))},
        {"UTF-16", text(std::string("1\0\n\0", 4))},
        {"huge", text(std::string(3 << 20, '7'))},
        {"a very long line", text(std::string(60000, 'x') + "\n")},
    };
    return all;
}

// What a file may well be: then nothing is damaged.
bool sound(const std::string &path, const std::string &damage) {
    const bool empty = damage == "empty" || damage == "only a line's end";
    const std::string name = fs::path(path).filename();
    if (path == "proc/self/environ") return empty;        // a process may have no variables
    if (name == "io.max") return empty;                   // no limits
    if (path == "proc/cmdline") return damage == "words"; // they could be parameters
    // Both say by being there, or by not being there, which is the ordinary case.
    if (path == "run/systemd/container" || path == "proc/version_signature" || path == "sys/hypervisor/type") return true;
    if (path == "sys/class/dmi/id/sys_vendor") return true; // asked where the processor says nothing
    // Makers call drives as they like, as long as it fits.
    if (name == "model" || name == "firmware_rev")
        return damage == "words" || damage == "negative" || damage == "a large number";
    return false;
}

// Do both hold the same text, but for blanks at its ends?
bool same(const fs::path &a, const fs::path &b) {
    const auto text_a = read_file(a, 65536), text_b = read_file(b, 65536);
    return text_a && text_b && host::trimmed(*text_a) == host::trimmed(*text_b);
}

void hold_up(void (*make)(test::FakeMachine &)) {
    const auto list = load_known_bad(HBF_KNOWN_BAD);
    ASSERT_TRUE(list) << list.error();
    test::FakeMachine whole;
    make(whole);
    size_t passing = 0, tried = 0;
    for (const Check &check : all_checks()) {
        const Finding good = examine(whole.root(), {check}, *list).findings.at(0);
        if (good.verdict != Verdict::pass) continue;
        ++passing;
        for (const std::string &path : good.files)
            for (const Damage &damage : damages()) {
                if (!fs::exists(whole.root() / path) || sound(path, damage.name)) continue;
                const fs::path at = whole.root() / path, kept = whole.root() / "kept";
                fs::rename(at, kept);
                damage.to(whole, path);
                if (same(at, kept)) { // an empty file is no damage where it was empty
                    fs::remove_all(at);
                    fs::rename(kept, at);
                    continue;
                }
                const Finding got = examine(whole.root(), {check}, *list).findings.at(0);
                EXPECT_NE(got.verdict, Verdict::pass)
                    << check.id << " passes with " << path << ' ' << damage.name << ": " << got.found;
                fs::remove_all(at);
                fs::rename(kept, at);
                ++tried;
            }
        EXPECT_EQ(examine(whole.root(), {check}, *list).findings.at(0).verdict, Verdict::pass)
            << check.id << " was not restored";
    }
    EXPECT_GT(passing, 40u);
    EXPECT_GT(tried, 1500u);
}

TEST(DoctorProperty, NoDamagedFileEverPasses) {
    hold_up(good_machine);
}

TEST(DoctorProperty, NorOnAMachineOfAnotherMaker) {
    hold_up(good_machine_of_other_maker);
}

// Nothing that a tree may hold stops it, or takes it long.
TEST(DoctorProperty, AnyTreeIsLookedAtToItsEnd) {
    const auto list = load_known_bad(HBF_KNOWN_BAD);
    ASSERT_TRUE(list) << list.error();
    test::FakeMachine machine;
    good_machine(machine);
    std::vector<std::string> files;
    for (const auto &entry : fs::recursive_directory_iterator(machine.root()))
        if (entry.is_regular_file() && !entry.is_symlink()) files.push_back(fs::relative(entry.path(), machine.root()));
    uint32_t state = 20261129; // a fixed sequence: the same trees in every run
    const auto next = [&state](uint32_t below) { return (state = state * 1664525 + 1013904223) / 65536 % below; };
    for (int round = 0; round < 40; ++round) {
        test::FakeMachine broken;
        good_machine(broken);
        for (int i = 0; i < 12; ++i)
            damages()[next(static_cast<uint32_t>(damages().size()))].to(broken,
                                                                        files[next(static_cast<uint32_t>(files.size()))]);
        EXPECT_EQ(examine(broken.root(), all_checks(), *list).findings.size(), all_checks().size());
    }
}

} // namespace
} // namespace hbf::tools::doctor
