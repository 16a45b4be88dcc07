// SPDX-License-Identifier: Apache-2.0
// Who serves, where plugins have several devices of several sorts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/loader/decide.hpp"

namespace hbf::loader {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ProbedDevice device(const std::string &id, bool on_cpu = false, bool emulated = false) {
    ProbedDevice made;
    made.id = id;
    made.on_cpu = on_cpu;
    made.emulated = emulated;
    return made;
}

Entry entry(const std::string &name, int priority, std::vector<ProbedDevice> devices) {
    Entry made;
    made.candidate.name = made.rank.name = name;
    made.rank.priority = priority;
    made.rank.pin_index = made.rank.allow_index = 1;
    rank_devices(devices);
    made.rank.emulated = devices.front().emulated;
    made.rank.on_cpu = devices.front().on_cpu;
    made.candidate.devices = std::move(devices);
    return made;
}

std::vector<std::string> serving(const std::vector<Entry> &entries) {
    std::vector<std::string> out;
    for (const Entry &one : entries)
        for (const ProbedDevice &each : one.candidate.devices)
            if (one.candidate.reason == Reason::selected && each.reason == Reason::selected)
                out.push_back(one.candidate.name + ":" + each.id);
    return out;
}

std::vector<Entry> decided(std::vector<Entry> entries) {
    decide(entries);
    return entries;
}

TEST(Decide, CpusThroughADeviceRuntimeRankBelowTheHostAndDoNotServeBesideIt) {
    const auto entries = decided({entry("opencl", 20, {device("cpu", true)}), entry("host", 10, {device("host0")})});
    EXPECT_THAT(serving(entries), ElementsAre("host:host0"));
    EXPECT_EQ(entries[0].candidate.name, "host");
    EXPECT_EQ(entries[1].candidate.reason, Reason::outranked);
    EXPECT_THAT(entries[1].candidate.detail, HasSubstr("this machine's CPUs and no accelerator"));
    EXPECT_EQ(entries[1].candidate.devices[0].reason, Reason::outranked);
}

TEST(Decide, AnAcceleratorOfTheSamePluginServesWithoutTheCpu) {
    const auto entries =
        decided({entry("host", 10, {device("host0")}), entry("opencl", 20, {device("cpu", true), device("gpu")})});
    EXPECT_THAT(serving(entries), ElementsAre("opencl:gpu", "host:host0"));
    EXPECT_THAT(entries[0].candidate.detail, HasSubstr("1 device; not cpu: outranked: by opencl"));
}

TEST(Decide, AloneOrPinnedTheyServeAndSaySo) {
    auto alone = decided({entry("opencl", 20, {device("cpu", true)})});
    EXPECT_THAT(serving(alone), ElementsAre("opencl:cpu"));
    EXPECT_THAT(alone[0].candidate.detail, HasSubstr("run by this machine's CPUs and no accelerator"));

    std::vector<Entry> pinned = {entry("host", 10, {device("host0")}), entry("opencl", 20, {device("cpu", true)})};
    pinned[1].candidate.pinned = true;
    pinned[1].rank.pin_index = 0;
    EXPECT_THAT(serving(decided(pinned)), ElementsAre("opencl:cpu", "host:host0"));
}

TEST(Decide, RealCpusComeBeforeAnythingEmulated) {
    const auto entries =
        decided({entry("sim", 99, {device("sim0", false, true)}), entry("opencl", 20, {device("cpu", true)})});
    EXPECT_THAT(serving(entries), ElementsAre("opencl:cpu"));
}

TEST(Decide, WhatDidNotOpenComesLastAndIsSaid) {
    std::vector<ProbedDevice> devices = {device("broken"), device("good")};
    devices[0].reason = Reason::create_failed;
    devices[0].detail = "exhausted: no memory";
    const auto entries = decided({entry("acme", 50, devices)});
    EXPECT_THAT(serving(entries), ElementsAre("acme:good"));
    EXPECT_THAT(entries[0].candidate.detail, HasSubstr("not broken: create_failed: exhausted: no memory"));
}

// The real device turned out not to open: who serves is decided once more.
TEST(Decide, AnewTheyAreLetIn) {
    std::vector<Entry> entries = {entry("host", 10, {device("host0")}), entry("opencl", 20, {device("cpu", true)})};
    decide(entries);
    ASSERT_THAT(serving(entries), ElementsAre("host:host0"));
    entries[0].refuse({Reason::probe_failed, "it went"});
    decide(entries);
    EXPECT_THAT(serving(entries), ElementsAre("opencl:cpu"));
}

} // namespace
} // namespace hbf::loader
