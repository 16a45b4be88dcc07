// SPDX-License-Identifier: Apache-2.0
// A clock of the machine's own: exact times, and the same run for the same seed.
#include <chrono>

#include <gtest/gtest.h>

#include "conformance/sim/model/testing.hpp"

namespace hbf::model::test {
namespace {

std::string virtual_text(const std::string &device = "") {
    return profile_text(device, "peer = \"works\"", "timing = \"virtual\"\n");
}

TEST(ModelVirtualTime, ACopyTakesWhatItsLinkAsksForAndNoTimeHere) {
    auto machine = make("", virtual_text());
    Stream &stream = *machine->create_stream(0, {});
    Event &begin = *machine->create_event(EventKind::mark), &end = *machine->create_event(EventKind::mark);
    const auto bytes = numbered(1 << 16);
    const uint64_t src = machine->memory().allocate_host(0, bytes.size()).address;
    machine->memory().poke(src, bytes.data(), bytes.size());
    const uint64_t dst = machine->memory().allocate_device(0, bytes.size()).address;
    stream.record(begin);
    for (int i = 0; i < 5000; ++i) stream.copy(dst, src, bytes.size()); // a third of a second over 1 GB/s
    stream.record(end);
    EXPECT_EQ(stream.query(), Outcome::pending); // later, as ever
    EXPECT_EQ(stream.synchronize(), Outcome::ok);
    EXPECT_EQ(end.time_ns() - begin.time_ns(), 5000 * (1000 + (uint64_t{1} << 16)));
    EXPECT_EQ(held(*machine, dst, bytes.size()), bytes);
}

TEST(ModelVirtualTime, EnginesWorkAtTheSameTimeAndNoMoreThanThereAre) {
    auto machine = make("", virtual_text("copy_engines = 2\n"));
    const uint64_t size = 1 << 20, each = 1000 + size;
    const uint64_t src = machine->memory().allocate_host(0, size).address;
    Event *ends[3];
    for (Event *&end : ends) {
        Stream &stream = *machine->create_stream(0, {});
        end = machine->create_event(EventKind::mark);
        stream.copy(machine->memory().allocate_device(0, size).address, src, size);
        stream.record(*end);
    }
    uint64_t first = ~uint64_t{0}, last = 0;
    for (Event *end : ends) {
        EXPECT_EQ(end->synchronize(), Outcome::ok);
        first = std::min(first, end->time_ns());
        last = std::max(last, end->time_ns());
    }
    EXPECT_EQ(last - first, each); // two at once, then the third
}

TEST(ModelVirtualTime, LookingMovesTheClockAndATimeoutIsKept) {
    auto machine = make("", virtual_text());
    Stream &stream = *machine->create_stream(0, {});
    Event &end = *machine->create_event(EventKind::mark);
    const uint64_t src = machine->memory().allocate_host(0, 1 << 20).address;
    stream.copy(machine->memory().allocate_device(0, 1 << 20).address, src, 1 << 20);
    stream.record(end);
    EXPECT_EQ(end.synchronize(500'000), Outcome::pending); // half of what it takes
    int looks = 0;
    while (stream.query() == Outcome::pending && looks < 10'000) ++looks;
    EXPECT_GT(looks, 400);
    EXPECT_LT(looks, 700);
    EXPECT_EQ(end.query(), Outcome::ok);
}

TEST(ModelVirtualTime, WaitsAcrossDevicesAreKept) {
    auto machine = make("", virtual_text());
    Stream &one = *machine->create_stream(0, {}), &two = *machine->create_stream(1, {});
    Event &done = *machine->create_event(EventKind::mark);
    const auto bytes = numbered(1 << 20);
    const uint64_t src = machine->memory().allocate_host(0, bytes.size()).address;
    machine->memory().poke(src, bytes.data(), bytes.size());
    const uint64_t middle = machine->memory().allocate_host(0, bytes.size()).address;
    const uint64_t device = machine->memory().allocate_device(0, bytes.size()).address;
    const uint64_t dst = machine->memory().allocate_device(1, bytes.size()).address;
    one.copy(device, src, bytes.size());
    one.copy(middle, device, bytes.size());
    one.record(done);
    two.wait(done);
    two.copy(dst, middle, bytes.size());
    EXPECT_EQ(two.synchronize(), Outcome::ok);
    EXPECT_EQ(held(*machine, dst, bytes.size()), bytes);
}

// Many streams write the same place, each after what dice say: who was last.
std::vector<uint8_t> race(uint64_t seed) {
    auto machine = make("", virtual_text("copy_engines = 2\n"), seed);
    const uint64_t dst = machine->memory().allocate_device(0, 64).address;
    std::vector<uint8_t> out;
    for (int round = 0; round < 12; ++round) {
        std::vector<Stream *> streams;
        for (uint8_t i = 0; i < 8; ++i) {
            const std::vector<uint8_t> mine(64, i);
            const uint64_t src = machine->memory().allocate_host(0, 64).address;
            machine->memory().poke(src, mine.data(), mine.size());
            streams.push_back(machine->create_stream(0, {}));
            streams.back()->copy(dst, src, 64);
        }
        for (Stream *stream : streams) EXPECT_EQ(stream->synchronize(), Outcome::ok);
        out.push_back(held(*machine, dst, 1)[0]);
    }
    return out;
}

TEST(ModelVirtualTime, ASeedGivesOneRunAndSeedsDiffer) {
    EXPECT_EQ(race(7), race(7));
    EXPECT_EQ(race(8), race(8));
    EXPECT_NE(race(7), race(8));
}

TEST(ModelVirtualTime, FaultsCountOnThatClock) {
    auto machine = make("late-completion:value=50", virtual_text());
    Stream &stream = *machine->create_stream(0, {});
    Event &begin = *machine->create_event(EventKind::mark), &end = *machine->create_event(EventKind::mark);
    const uint64_t src = machine->memory().allocate_host(0, 64).address;
    stream.record(begin);
    stream.copy(machine->memory().allocate_device(0, 64).address, src, 64);
    stream.record(end);
    EXPECT_EQ(stream.synchronize(), Outcome::ok);
    EXPECT_GE(end.time_ns() - begin.time_ns(), 50'000'000u);
}

} // namespace
} // namespace hbf::model::test
