// SPDX-License-Identifier: Apache-2.0
// The bars of placement on the two traces that come with the source, with one set of parameters, as shares of the tokens
// asked for. What LRU and Belady serve was found by two other simulators: so is this one checked.
#include <map>

#include <gtest/gtest.h>

#include "core/engine/placement/policy.hpp"
#include "tools/replay/capacity.hpp"
#include "tools/replay/simulate.hpp"

namespace hbf::replay {
namespace {

const Trace &trace(const std::string &name) {
    static std::map<std::string, Trace> traces;
    auto &trace = traces[name];
    if (trace.starts.empty()) {
        auto read = read_trace(std::filesystem::path(HBF_TRACES) / ("mooncake_" + name + ".csv.zst"), "auto");
        if (!read) throw std::runtime_error(read.error());
        trace = std::move(*read);
    }
    return trace;
}

Tally run(const Trace &trace, const char *policy, const char *capacity) {
    const auto made = kv::placement::make_policy(policy, parse_capacity(capacity, trace, 1)->blocks, trace.blocks);
    return replay(trace, **made);
}

struct Known {
    const char *trace, *capacity;
    double lru, belady;
};
const Known known[] = {
    {"conversation", "0.1%", .0427, .0891}, {"conversation", "1%", .0535, .2513},  {"conversation", "5%", .1996, .3736},
    {"conversation", "10%", .2844, .3736},  {"conversation", "20%", .3521, .3736}, {"conversation", "40%", .3675, .3736},
    {"synthetic", "0.1%", .0037, .0384},    {"synthetic", "1%", .0388, .1889},     {"synthetic", "5%", .1596, .4030},
    {"synthetic", "10%", .2673, .5156},     {"synthetic", "20%", .4004, .6191},    {"synthetic", "40%", .5551, .6512},
};

TEST(Traces, AreWhatTheyWere) {
    EXPECT_EQ(trace("conversation").requests(), 12'031u);
    EXPECT_EQ(trace("conversation").accesses.size(), 288'500u);
    EXPECT_EQ(trace("conversation").blocks, 182'790u);
    EXPECT_EQ(trace("synthetic").requests(), 3'993u);
    EXPECT_EQ(trace("synthetic").accesses.size(), 121'877u);
    EXPECT_EQ(trace("synthetic").blocks, 43'924u);
}

TEST(Traces, LruAndBeladyServeWhatOthersFound) {
    for (const auto &[name, capacity, lru, belady] : known) {
        EXPECT_NEAR(run(trace(name), "lru", capacity).share(), lru, .0005) << name << " " << capacity;
        const auto best = replay_best(trace(name), parse_capacity(capacity, trace(name), 1)->blocks);
        EXPECT_NEAR(best.share(), belady, .0015) << name << " " << capacity;
    }
}

TEST(Traces, AhasIsNotBelowLruAndAboveItWhereRoomIsShort) {
    for (const auto &[name, capacity, lru, belady] : known) {
        const double ahas = run(trace(name), "ahas", capacity).share();
        EXPECT_GE(ahas, lru - .005) << name << " " << capacity;
        if (std::string_view(capacity) != "1%") continue;
        EXPECT_GE(ahas, std::string_view(name) == "conversation" ? .105 : .044) << name;
    }
}

TEST(Traces, TwoLevelsMoveLessDownThanLruAndServeNoLess) {
    for (const char *name : {"conversation", "synthetic"}) {
        const auto two = [&](const char *policy) {
            const Trace &here = trace(name);
            const auto upper = kv::placement::make_policy(policy, parse_capacity("1%", here, 1)->blocks, here.blocks);
            const auto lower =
                kv::placement::make_policy(policy, parse_capacity("10%", here, 1)->blocks, here.blocks, {0, true});
            return replay(here, **upper, **lower);
        };
        const auto ahas = two("ahas"), lru = two("lru");
        EXPECT_LE(ahas.down_tokens, lru.down_tokens) << name;
        EXPECT_GE(ahas.share(), lru.share()) << name;
    }
}

} // namespace
} // namespace hbf::replay
