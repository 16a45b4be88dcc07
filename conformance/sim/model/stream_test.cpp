// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "conformance/sim/model/testing.hpp"
#include "kernels/device/catalogue.hpp"

namespace hbf::model::test {
namespace {

// Holds a stream until open() is called.
class Gate {
public:
    explicit Gate(Machine &machine) : machine_(machine), flag_(machine.memory().allocate_host(0, 8).address) {}
    void close(Stream &stream) const {
        Operation wait;
        wait.kind = Operation::Kind::wait_value;
        wait.src = flag_;
        wait.size = 8;
        wait.value = 1;
        wait.compare = Compare::equal;
        stream.submit(std::move(wait));
    }
    void open() const {
        const uint64_t one = 1;
        machine_.memory().poke(flag_, &one, 8);
    }

private:
    Machine &machine_;
    uint64_t flag_;
};

TEST(ModelStream, CopiesComeAndGo) {
    auto machine = make();
    Stream &stream = *machine->create_stream(0, {});
    const auto bytes = numbered(200'001);
    const uint64_t device = machine->memory().allocate_device(0, bytes.size()).address;
    std::vector<uint8_t> back(bytes.size());
    EXPECT_EQ(stream.copy(device, address(bytes.data()), bytes.size()), Outcome::ok);
    EXPECT_EQ(stream.copy(address(back.data()), device, bytes.size()), Outcome::ok);
    EXPECT_EQ(stream.synchronize(), Outcome::ok);
    EXPECT_EQ(back, bytes);
}

TEST(ModelStream, NothingRunsInTheCallAndQueriesDoNotLie) {
    auto machine = make();
    Stream &stream = *machine->create_stream(0, {});
    Event &event = *machine->create_event(EventKind::mark);
    const Gate gate(*machine);
    const auto bytes = numbered(4096);
    const uint64_t src = on_device(*machine, 0, bytes), dst = machine->memory().allocate_device(0, 4096).address;
    EXPECT_EQ(event.query(), Outcome::ok); // never recorded
    gate.close(stream);
    stream.copy(dst, src, 4096);
    stream.record(event);
    EXPECT_EQ(stream.query(), Outcome::pending);
    EXPECT_EQ(event.query(), Outcome::pending);
    EXPECT_EQ(event.synchronize(1'000'000), Outcome::pending);
    EXPECT_EQ(event.time_ns(), 0u);
    EXPECT_NE(held(*machine, dst, 4096), bytes);
    gate.open();
    EXPECT_EQ(event.synchronize(), Outcome::ok);
    EXPECT_EQ(held(*machine, dst, 4096), bytes);
    EXPECT_NE(event.time_ns(), 0u);
}

TEST(ModelStream, AnOrderedStreamIsOrdered) {
    for (uint64_t seed = 1; seed <= 20; ++seed) {
        auto machine = make("", profile_text(), seed);
        Stream &stream = *machine->create_stream(0, {});
        const uint64_t at = machine->memory().allocate_device(0, 1 << 16).address;
        for (uint32_t i = 1; i <= 20; ++i) ASSERT_EQ(stream.fill(at, &i, 4, (i % 2) ? 1 << 16 : 4), Outcome::ok);
        ASSERT_EQ(stream.synchronize(), Outcome::ok);
        EXPECT_EQ(held(*machine, at, 1)[0], 20);
        EXPECT_EQ(held(*machine, at + 4, 1)[0], 19);
    }
}

// Of `seeds` machines, in how many the later of two writes of one address is not the one that stays.
uint32_t overtaken(bool in_order, bool together, const std::string &faults, uint64_t seeds) {
    uint32_t found = 0;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
        auto machine = make(faults, profile_text(), seed);
        StreamOptions options;
        options.in_order = in_order;
        Stream &stream = *machine->create_stream(0, options);
        const Gate gate(*machine);
        static const auto old = numbered(1 << 20, 1), young = numbered(1 << 20, 2);
        const uint64_t first = on_device(*machine, 0, old), second = on_device(*machine, 0, young);
        const uint64_t dst = machine->memory().allocate_device(0, 1 << 20).address;
        gate.close(stream);
        const CopyRange copies[] = {{dst, first, 1 << 20}, {dst, second, 64}};
        if (together) {
            EXPECT_EQ(stream.copy_batch(copies, true), Outcome::ok);
        } else {
            for (const CopyRange &copy : copies) EXPECT_EQ(stream.copy(copy.dst, copy.src, copy.size), Outcome::ok);
        }
        gate.open();
        EXPECT_EQ(stream.synchronize(), Outcome::ok);
        found += held(*machine, dst, 64) != std::vector<uint8_t>(young.begin(), young.begin() + 64);
    }
    return found;
}

TEST(ModelStream, OnlyWhatMayOvertakeDoes) {
    EXPECT_EQ(overtaken(true, false, "", 20), 0u);
    EXPECT_GT(overtaken(true, true, "", 20), 0u);
    EXPECT_GT(overtaken(false, false, "", 20), 0u);
    EXPECT_EQ(overtaken(true, false, "reorder", 5), 5u);
}

TEST(ModelStream, AWaitHoldsAcrossDevices) {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
        auto machine = make("", profile_text(), seed);
        Stream &one = *machine->create_stream(0, {}), &two = *machine->create_stream(1, {});
        Event &event = *machine->create_event(EventKind::mark);
        const Gate gate(*machine);
        const auto bytes = numbered(1 << 20);
        const uint64_t src = on_device(*machine, 0, bytes), middle = machine->memory().allocate_device(0, 1 << 20).address;
        const uint64_t dst = machine->memory().allocate_device(1, 1 << 20).address;
        gate.close(one);
        one.copy(middle, src, 1 << 20);
        one.record(event);
        two.wait(event);
        two.copy(dst, middle, 1 << 20); // through the host: peers are not enabled
        machine->destroy_event(&event);
        gate.open();
        EXPECT_EQ(two.synchronize(), Outcome::ok);
        EXPECT_EQ(held(*machine, dst, 1 << 20), bytes);
    }
}

TEST(ModelStream, TheDefaultStreamAndBlockingOnesWaitForEachOther) {
    auto machine = make();
    Stream &legacy = machine->device(0).default_stream(), &blocking = *machine->create_stream(0, {});
    StreamOptions apart;
    apart.waits_for_default = false;
    Stream &other = *machine->create_stream(0, apart);
    const Gate gate(*machine);
    const uint64_t at = machine->memory().allocate_device(0, 64).address;
    const uint8_t one = 1;
    gate.close(blocking);
    legacy.fill(at, &one, 1, 64);
    other.fill(at, &one, 1, 1);
    EXPECT_EQ(other.synchronize(), Outcome::ok);
    EXPECT_EQ(legacy.query(), Outcome::pending);
    gate.open();
    EXPECT_EQ(machine->device(0).synchronize(), Outcome::ok);
    EXPECT_EQ(legacy.query(), Outcome::ok);
}

TEST(ModelStream, PageableMemoryAsTheContractSays) {
    const auto arrives = [](Pageable how) {
        auto machine = make();
        Contract contract;
        contract.pageable = how;
        machine->device(0).set_contract(contract);
        Stream &stream = *machine->create_stream(0, {});
        const Gate gate(*machine);
        const uint64_t at = machine->memory().allocate_device(0, 64).address;
        std::vector<uint8_t> source(64, 1);
        gate.close(stream);
        std::thread opens;
        if (how == Pageable::synchronous) opens = std::thread([&] { gate.open(); });
        EXPECT_EQ(stream.copy(at, address(source.data()), 64), Outcome::ok);
        if (opens.joinable()) opens.join();
        source.assign(64, 2);
        gate.open();
        EXPECT_EQ(stream.synchronize(), Outcome::ok);
        return held(*machine, at, 1)[0];
    };
    EXPECT_EQ(arrives(Pageable::staged), 1);
    EXPECT_EQ(arrives(Pageable::synchronous), 1);
    EXPECT_EQ(arrives(Pageable::late), 2);
}

// As a runtime sees memory that its plugin forgot to pin.
TEST(ModelStream, MemoryRegisteredInNameOnlyIsPageable) {
    for (const bool pinned : {true, false}) {
        auto machine = make(pinned ? "" : "register-unpinned");
        Stream &stream = *machine->create_stream(0, {});
        const Gate gate(*machine);
        const uint64_t at = machine->memory().allocate_device(0, 64).address;
        std::vector<uint8_t> source(64, 1);
        ASSERT_EQ(machine->memory().register_host(0, source.data(), 64), Outcome::ok);
        gate.close(stream);
        EXPECT_EQ(stream.copy(at, address(source.data()), 64), Outcome::ok);
        source.assign(64, 2);
        gate.open();
        EXPECT_EQ(stream.synchronize(), Outcome::ok);
        EXPECT_EQ(held(*machine, at, 1)[0], pinned ? 2 : 1);
        EXPECT_EQ(machine->memory().unregister_host(source.data()), Outcome::ok);
    }
}

TEST(ModelStream, PageableMemoryThatIsGoneIsAnError) {
    auto machine = make();
    Contract contract;
    contract.pageable = Pageable::late;
    machine->device(0).set_contract(contract);
    const uint64_t at = machine->memory().allocate_device(0, 64).address;
    Stream &stream = *machine->create_stream(0, {});
    EXPECT_EQ(stream.copy(at, 4096, 64), Outcome::ok); // nothing lies there
    EXPECT_EQ(stream.synchronize(), Outcome::unknown_address);
}

TEST(ModelStream, HostFunctionsComeInTurnAndKnowWhereTheyAre) {
    auto machine = make();
    Stream &stream = *machine->create_stream(0, {});
    struct Seen {
        std::atomic<int> calls{0};
        std::atomic<bool> inside{false};
    } seen;
    EXPECT_FALSE(in_host_function());
    const auto call = [](void *argument) {
        static_cast<Seen *>(argument)->inside = in_host_function();
        ++static_cast<Seen *>(argument)->calls;
    };
    EXPECT_EQ(stream.host_function(call, &seen), Outcome::ok);
    EXPECT_EQ(stream.synchronize(), Outcome::ok);
    EXPECT_EQ(seen.calls, 1);
    EXPECT_TRUE(seen.inside);
}

TEST(ModelStream, KernelsRunAsTheirTwins) {
    auto machine = make();
    Stream &stream = *machine->create_stream(0, {});
    const auto *const kernel = find_kernel("copy");
    ASSERT_TRUE(kernel);
    EXPECT_EQ(find_kernel(kernel->name), kernel);
    EXPECT_EQ(find_kernel("no such"), nullptr);
    const auto bytes = numbered(1 << 16);
    const uint64_t src = on_device(*machine, 0, bytes), dst = machine->memory().allocate_device(0, 1 << 16).address;
    auto launch = std::make_unique<Launch>();
    launch->kernel = kernel;
    launch->buffers[0] = {src, 0};
    launch->buffers[1] = {dst, 1 << 16};
    const uint64_t size = 1 << 16;
    std::memcpy(launch->arguments.data(), &size, sizeof size);
    launch->groups[0] = 3;
    launch->group_size[0] = 8;
    auto again = std::make_unique<Launch>(*launch);
    ASSERT_EQ(stream.launch(std::move(launch)), Outcome::ok);
    ASSERT_EQ(stream.synchronize(), Outcome::ok);
    EXPECT_EQ(held(*machine, dst, 1 << 16), bytes);
    again->buffers[1] = {machine->memory().allocate_device(1, 1 << 16).address, 0};
    ASSERT_EQ(stream.launch(std::move(again)), Outcome::ok);
    EXPECT_EQ(stream.synchronize(), Outcome::no_access);
    EXPECT_EQ(machine->device(0).status(), Outcome::no_access);
}

TEST(ModelStream, ABoundaryIsWhereAKernelBeginsAndEnds) {
    auto machine = make();
    Memory &memory = machine->memory();
    const uint64_t shared = memory.allocate_host(0, 4096, 0, 0, Coherence::boundary).address;
    const uint64_t at = memory.allocate_device(0, 4096).address;
    auto *const bytes = reinterpret_cast<uint8_t *>(shared); // NOLINT
    const auto kernel = [&](uint64_t src, uint64_t dst) {
        auto launch = std::make_unique<Launch>();
        launch->kernel = find_kernel("copy");
        launch->buffers[0] = {src, 64};
        launch->buffers[1] = {dst, 64};
        const uint64_t size = 64;
        std::memcpy(launch->arguments.data(), &size, sizeof size);
        EXPECT_EQ(machine->device(0).default_stream().launch(std::move(launch)), Outcome::ok);
        EXPECT_EQ(machine->device(0).synchronize(), Outcome::ok);
    };
    for (const uint8_t value : {1, 2}) {
        bytes[0] = value;
        kernel(shared, at);
        EXPECT_EQ(held(*machine, at, 1)[0], value);
        kernel(at, shared + 2048);
        EXPECT_EQ(bytes[2048], value);
    }
}

TEST(ModelStream, WhatIsNotCheckedInTheCallIsFoundWhenItRuns) {
    auto machine = make();
    Stream &stream = *machine->create_stream(0, {});
    const uint64_t src = machine->memory().allocate_device(0, 64).address,
                   dst = machine->memory().allocate_device(0, 63).address;
    stream.submit(Operation::copy(dst, src, 64));
    EXPECT_EQ(stream.synchronize(), Outcome::out_of_range);
}

// What failed, what an event behind it says, and whether what comes after it ran.
TEST(ModelStream, ErrorsGoAsFarAsTheContractSays) {
    for (const bool all : {true, false}) {
        auto machine = make("fail:count=1");
        Contract contract;
        contract.events_carry_errors = contract.stop_after_error = contract.sticky_errors = all;
        machine->device(0).set_contract(contract);
        Stream &stream = *machine->create_stream(0, {});
        Event &event = *machine->create_event(EventKind::mark);
        const uint64_t src = on_device(*machine, 0, numbered(64)), dst = machine->memory().allocate_device(0, 64).address;
        stream.copy(dst, src, 64);
        stream.record(event);
        stream.copy(dst, src, 64);
        EXPECT_EQ(stream.synchronize(), Outcome::failed);
        EXPECT_EQ(event.query(), all ? Outcome::failed : Outcome::ok);
        EXPECT_EQ(held(*machine, dst, 64) == numbered(64), !all);
        EXPECT_EQ(stream.take_error(), Outcome::failed);
        EXPECT_EQ(stream.query(), Outcome::ok); // not fatal: forgotten
    }
}

TEST(ModelStream, FlagsAreSetByEitherSide) {
    auto machine = make();
    StreamOptions loose;
    loose.in_order = false;
    Stream &stream = *machine->create_stream(0, loose);
    Event &begin = *machine->create_event(EventKind::flag), &over = *machine->create_event(EventKind::flag);
    const uint64_t at = machine->memory().allocate_device(0, 64).address;
    const uint8_t one = 1;
    EXPECT_EQ(over.query(), Outcome::pending);
    stream.wait(begin);
    stream.fill(at, &one, 1, 64);
    Operation barrier;
    barrier.kind = Operation::Kind::barrier;
    stream.submit(std::move(barrier));
    Operation signal;
    signal.kind = Operation::Kind::signal;
    signal.event = &over;
    stream.submit(std::move(signal));
    EXPECT_EQ(over.synchronize(1'000'000), Outcome::pending);
    EXPECT_EQ(held(*machine, at, 1)[0], 0);
    begin.set();
    EXPECT_EQ(over.synchronize(), Outcome::ok);
    EXPECT_EQ(held(*machine, at, 1)[0], 1);
    over.clear();
    EXPECT_EQ(over.query(), Outcome::pending);
}

TEST(ModelStream, AnUnpluggedDeviceLetsEverybodyGo) {
    auto machine = make();
    Stream &stream = *machine->create_stream(0, {}), &other = *machine->create_stream(1, {});
    Event &event = *machine->create_event(EventKind::mark);
    const Gate gate(*machine);
    const uint64_t at = machine->memory().allocate_device(0, 64).address;
    static std::atomic<int> ended;
    gate.close(stream);
    Operation copy = Operation::copy(at, at + 32, 16);
    copy.ended = [](void *, Outcome outcome) { ended = outcome == Outcome::lost ? 1 : -1; };
    stream.submit(std::move(copy));
    stream.record(event);
    other.wait(event);
    machine->device(0).unplug();
    EXPECT_EQ(stream.synchronize(), Outcome::lost);
    EXPECT_EQ(event.query(), Outcome::lost);
    EXPECT_EQ(other.synchronize(), Outcome::ok); // the other device lives
    EXPECT_EQ(stream.copy(at, at, 1), Outcome::lost);
    EXPECT_EQ(machine->memory().allocate_device(0, 1).outcome, Outcome::lost);
    EXPECT_EQ(machine->create_stream(0, {}), nullptr);
    while (ended == 0) std::this_thread::yield();
    EXPECT_EQ(ended, 1);
}

// Who learns of the last one may let go of what the others tell.
TEST(ModelStream, EndsAreToldInTheirOrder) {
    auto machine = make();
    Stream &stream = *machine->create_stream(0, {});
    const uint64_t at = machine->memory().allocate_device(0, 64).address;
    static std::atomic<uint64_t> told, out_of_order;
    told = out_of_order = 0;
    std::vector<uint64_t> numbers(4000);
    std::iota(numbers.begin(), numbers.end(), uint64_t{0});
    for (uint64_t &number : numbers) {
        Operation copy = Operation::copy(at, at + 32, 16);
        copy.ended_argument = &number;
        copy.ended = [](void *which, Outcome) {
            const auto before = told.load();
            std::this_thread::yield(); // as a busy machine would have it
            out_of_order += before != *static_cast<uint64_t *>(which);
            ++told;
        };
        ASSERT_NE(stream.submit(std::move(copy)), 0u);
    }
    while (told != numbers.size()) std::this_thread::yield();
    EXPECT_EQ(out_of_order, 0u);
}

TEST(ModelStream, HandlesThatAreGoneAreKnown) {
    auto machine = make();
    Stream *const stream = machine->create_stream(0, {});
    Event *const event = machine->create_event(EventKind::mark);
    const uint64_t at = machine->memory().allocate_device(0, 1 << 20).address;
    const uint8_t one = 1;
    stream->fill(at, &one, 1, 1 << 20);
    machine->destroy_stream(stream); // what was submitted is done
    EXPECT_FALSE(machine->is_stream(stream));
    EXPECT_FALSE(machine->is_stream(event));
    EXPECT_TRUE(machine->is_event(event));
    machine->destroy_event(event);
    EXPECT_FALSE(machine->is_event(event));
    EXPECT_EQ(machine->device(0).synchronize(), Outcome::ok);
    EXPECT_EQ(held(*machine, at + (1 << 20) - 1, 1)[0], 1);
}

TEST(ModelStream, ManyThreadsOnManyStreams) {
    auto machine = make();
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&machine, i] {
            const int device = i % 2;
            Stream &stream = *machine->create_stream(device, {});
            Event &event = *machine->create_event(EventKind::mark);
            const auto bytes = numbered(64 * 1024, static_cast<uint64_t>(i) + 1);
            const uint64_t a = on_device(*machine, device, bytes);
            const uint64_t b = machine->memory().allocate_device(device, bytes.size()).address;
            for (int round = 0; round < 50; ++round) {
                ASSERT_EQ(stream.copy(round % 2 ? a : b, round % 2 ? b : a, bytes.size()), Outcome::ok);
                ASSERT_EQ(stream.record(event), Outcome::ok);
                ASSERT_EQ(event.synchronize(), Outcome::ok);
            }
            EXPECT_EQ(held(*machine, b, bytes.size()), bytes);
            machine->destroy_stream(&stream);
        });
    for (std::thread &thread : threads) thread.join();
}

TEST(ModelStream, FreeTimingIsOverAtOnceAndMovesNothing) {
    auto machine = make("", profile_text("", "peer = \"works\"", "timing = \"free\"\n"));
    Stream &stream = *machine->create_stream(0, {});
    Event &event = *machine->create_event(EventKind::mark);
    const uint64_t src = on_device(*machine, 0, numbered(64)), dst = machine->memory().allocate_device(0, 64).address;
    EXPECT_EQ(stream.copy(dst, src, 64), Outcome::ok);
    EXPECT_EQ(stream.record(event), Outcome::ok);
    EXPECT_EQ(event.query(), Outcome::ok);
    EXPECT_EQ(stream.query(), Outcome::ok);
    EXPECT_EQ(held(*machine, dst, 64), std::vector<uint8_t>(64, 0));
}

TEST(ModelStream, LinksTakeTheirTime) {
    auto machine = make("", profile_text("", "peer = \"works\"", "timing = \"links\"\n"));
    Stream &stream = *machine->create_stream(0, {});
    Event &begin = *machine->create_event(EventKind::mark), &end = *machine->create_event(EventKind::mark);
    const uint64_t src = machine->memory().allocate_host(0, 1 << 20).address;
    const uint64_t dst = machine->memory().allocate_device(0, 1 << 20).address;
    stream.record(begin);
    stream.copy(dst, src, 1 << 20); // over 1 GB/s
    stream.record(end);
    EXPECT_EQ(stream.synchronize(), Outcome::ok);
    EXPECT_GE(end.time_ns() - begin.time_ns(), 1'000'000u);
}

} // namespace
} // namespace hbf::model::test
