// SPDX-License-Identifier: Apache-2.0
// Each fault is seen, and the machine without it is right: a table of what a copy may suffer, then the others.
#include <atomic>
#include <set>
#include <thread>

#include <gtest/gtest.h>

#include "conformance/sim/model/testing.hpp"

namespace hbf::model::test {
namespace {

std::string refusal(std::string_view text) {
    const auto faults = parse_faults(text);
    return faults ? "" : faults.error().message;
}

TEST(ModelFaults, Texts) {
    EXPECT_EQ(refusal(""), "");
    EXPECT_EQ(refusal("drop_tail;flip:p=0.5,after=3,rate=2,count=1,device=0,value=9"), "");
    EXPECT_EQ(refusal("flop"), "no fault \"flop\" (did you mean \"flip\"?); \"help\" in its place lists them");
    EXPECT_EQ(refusal("flip:queue=1"), "fault flip: no parameter \"queue\"; there are p, after, rate, count, device, value");
    EXPECT_EQ(refusal("flip:p=1.5"), "fault flip: p=\"1.5\": must be from 0 to 1");
    EXPECT_EQ(refusal("flip:rate=0"), "fault flip: rate=\"0\": must be a number, 1 or more");
    EXPECT_EQ(refusal("flip:after=x"), "fault flip: after=\"x\": must be a number, 0 or more");
    std::set<std::string_view> names;
    for (const FaultInfo &info : all_faults()) {
        EXPECT_TRUE(names.insert(info.name).second) << info.name;
        EXPECT_NE(faults_help().find(info.name), std::string::npos);
    }
    EXPECT_GE(names.size(), 51u);
}

std::string pattern(const std::string &text, int device = 0) {
    Faults faults(*parse_faults(text), 1);
    std::string hits;
    for (int i = 0; i < 10; ++i) hits += faults.fires(Fault::flip, device) ? 'x' : '.';
    return hits;
}

TEST(ModelFaults, WhenTheyAct) {
    EXPECT_EQ(pattern("flip"), "xxxxxxxxxx");
    EXPECT_EQ(pattern("flip:after=3"), "...xxxxxxx");
    EXPECT_EQ(pattern("flip:after=1,rate=3"), ".x..x..x..");
    EXPECT_EQ(pattern("flip:count=2,rate=2"), "x.x.......");
    EXPECT_EQ(pattern("flip:device=1"), "..........");
    EXPECT_EQ(pattern("flip:p=0"), "..........");
    EXPECT_EQ(pattern("ecc"), "..........");
    const std::string some = pattern("flip:p=0.5");
    EXPECT_NE(some, "xxxxxxxxxx");
    EXPECT_NE(some, "..........");
    EXPECT_EQ(some, pattern("flip:p=0.5")); // the same seed
}

constexpr uint64_t size = 100'003; // no multiple of anything

struct Copied {
    std::vector<uint8_t> bytes; // the destination, with 8192 bytes around it
    Outcome outcome = Outcome::ok;
    uint64_t corrected = 0, uncorrected = 0;
};

// One copy inside device 0, at an offset that has bit 12 set.
Copied copied(const std::string &faults) {
    auto machine = make(faults);
    Stream &stream = *machine->create_stream(0, {});
    const uint64_t src = on_device(*machine, 0, numbered(size + 8)),
                   dst = machine->memory().allocate_device(0, size + 16384).address;
    Copied result;
    stream.copy(dst + 4096, src, size);
    result.outcome = stream.synchronize();
    result.bytes = held(*machine, dst, size + 16384);
    result.corrected = machine->device(0).health().get(Counter::ecc_corrected);
    result.uncorrected = machine->device(0).health().get(Counter::ecc_uncorrected);
    return result;
}

TEST(ModelFaults, WhatACopySuffers) {
    const Copied clean = copied("");
    EXPECT_EQ(clean.outcome, Outcome::ok);
    const auto bytes = numbered(size);
    EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), clean.bytes.begin() + 4096));
    for (const char *const fault : {"flip", "flip:value=77", "stuck", "drop-tail", "tail-rounded", "lost-copy",
                                    "address-bit", "offset-one", "writes-beside", "swapped", "ecc-silent"}) {
        const Copied faulty = copied(fault);
        EXPECT_EQ(faulty.outcome, Outcome::ok) << fault;
        EXPECT_NE(faulty.bytes, clean.bytes) << fault;
        EXPECT_EQ(copied(fault + std::string(std::strchr(fault, ':') ? ",after=1" : ":after=1")).bytes, clean.bytes)
            << fault;
    }
    for (const char *const fault : {"torn", "ecc-corrected"}) EXPECT_EQ(copied(fault).bytes, clean.bytes) << fault;
    EXPECT_EQ(copied("ecc-corrected").corrected, 1u);
    EXPECT_EQ(copied("ecc-silent").uncorrected, 1u);
    EXPECT_EQ(copied("ecc").uncorrected, 1u);
    EXPECT_EQ(copied("ecc").outcome, Outcome::uncorrectable);
    EXPECT_EQ(copied("fail").outcome, Outcome::failed);
    EXPECT_EQ(copied("fail;swallow-error").outcome, Outcome::ok);
    EXPECT_NE(copied("fail;swallow-error").bytes, clean.bytes);
    EXPECT_EQ(copied("lost-device").outcome, Outcome::lost);
}

TEST(ModelFaults, SizesOfFourMegabytesAndMore) {
    auto machine = make("size-32");
    Stream &stream = *machine->create_stream(0, {});
    const auto bytes = numbered((4 << 20) + 100);
    const uint64_t src = on_device(*machine, 0, bytes), dst = machine->memory().allocate_device(0, bytes.size()).address;
    stream.copy(dst, src, bytes.size());
    EXPECT_EQ(stream.synchronize(), Outcome::ok);
    EXPECT_EQ(held(*machine, dst + 99, 1)[0], bytes[99]);
    EXPECT_EQ(held(*machine, dst + 100, 1)[0], 0);
}

TEST(ModelFaults, Completion) {
    const auto run = [](const std::string &faults, auto &&check) {
        auto machine = make(faults);
        Stream &stream = *machine->create_stream(0, {});
        Event &event = *machine->create_event(EventKind::mark);
        const auto bytes = numbered(1 << 20);
        const uint64_t src = on_device(*machine, 0, bytes), dst = machine->memory().allocate_device(0, 1 << 20).address;
        const uint64_t flag = machine->memory().allocate_host(0, 8).address;
        if (faults != "early-completion:value=50" && faults != "never-completes") {
            Operation gate;
            gate.kind = Operation::Kind::wait_value;
            gate.src = flag;
            gate.size = 8;
            gate.value = 1;
            stream.submit(std::move(gate));
        }
        stream.copy(dst, src, 1 << 20);
        stream.record(event);
        check(*machine, stream, event, dst, bytes);
        const uint64_t one = 1;
        machine->memory().poke(flag, &one, 8);
        if (faults == "never-completes") machine->device(0).unplug();
        machine->device(0).synchronize();
    };
    run("query-lies", [](Machine &machine, Stream &stream, Event &event, uint64_t dst, const auto &bytes) {
        EXPECT_EQ(stream.query(), Outcome::ok);
        EXPECT_EQ(event.query(), Outcome::ok);
        EXPECT_NE(held(machine, dst, 1 << 20), bytes);
    });
    run("sync-early", [](Machine &machine, Stream &stream, Event &event, uint64_t dst, const auto &bytes) {
        EXPECT_EQ(event.synchronize(), Outcome::ok);
        EXPECT_EQ(stream.synchronize(), Outcome::ok);
        EXPECT_NE(held(machine, dst, 1 << 20), bytes);
    });
    run("event-early", [](Machine &machine, Stream &stream, Event &event, uint64_t dst, const auto &bytes) {
        EXPECT_EQ(event.synchronize(), Outcome::ok);
        EXPECT_EQ(stream.query(), Outcome::pending);
        EXPECT_NE(held(machine, dst, 1 << 20), bytes);
    });
    run("early-completion:value=50", [](Machine &machine, Stream &stream, Event &event, uint64_t dst, const auto &bytes) {
        EXPECT_EQ(stream.synchronize(), Outcome::ok);
        EXPECT_EQ(event.query(), Outcome::ok);
        EXPECT_NE(held(machine, dst, 1 << 20), bytes);
        while (held(machine, dst, 1 << 20) != bytes) std::this_thread::yield(); // it comes
    });
    run("never-completes", [](Machine &, Stream &stream, Event &event, uint64_t, const auto &) {
        EXPECT_EQ(stream.synchronize(20'000'000), Outcome::pending);
        EXPECT_EQ(event.query(), Outcome::pending);
    });
}

TEST(ModelFaults, AWaitThatDoesNotWait) {
    auto machine = make("wait-ignored");
    Stream &one = *machine->create_stream(0, {}), &two = *machine->create_stream(0, {});
    Event &flag = *machine->create_event(EventKind::flag), &mark = *machine->create_event(EventKind::mark);
    one.wait(flag); // not even this one
    EXPECT_EQ(one.synchronize(), Outcome::ok);
    one.record(mark);
    two.wait(mark);
    EXPECT_EQ(two.synchronize(), Outcome::ok);
    EXPECT_GE(machine->faults().hits(Fault::wait_ignored), 2u);
}

TEST(ModelFaults, HostFunctions) {
    auto machine = make("host-function-twice");
    Stream &stream = *machine->create_stream(0, {});
    std::atomic<int> calls{0};
    stream.host_function([](void *count) { ++*static_cast<std::atomic<int> *>(count); }, &calls);
    stream.synchronize();
    EXPECT_EQ(calls, 2);

    auto other = make("host-function-early");
    Stream &held_up = *other->create_stream(0, {});
    Event &flag = *other->create_event(EventKind::flag);
    held_up.wait(flag);
    held_up.host_function([](void *count) { ++*static_cast<std::atomic<int> *>(count); }, &calls);
    while (calls == 2) std::this_thread::yield();
    EXPECT_EQ(held_up.query(), Outcome::pending);
    flag.set();
    EXPECT_EQ(held_up.synchronize(), Outcome::ok);
}

TEST(ModelFaults, TheLastOfABatch) {
    auto machine = make("batch-last");
    Stream &stream = *machine->create_stream(0, {});
    const uint64_t src = on_device(*machine, 0, numbered(64)), dst = machine->memory().allocate_device(0, 64).address;
    const CopyRange copies[] = {{dst, src, 32}, {dst + 32, src + 32, 32}};
    stream.copy_batch(copies, true);
    EXPECT_EQ(stream.synchronize(), Outcome::ok);
    EXPECT_NE(held(*machine, dst, 32), std::vector<uint8_t>(32, 0));
    EXPECT_EQ(held(*machine, dst + 32, 32), std::vector<uint8_t>(32, 0));
}

TEST(ModelFaults, FillsAndKernels) {
    auto machine = make("fill-tail:device=0;launch-fails:device=1");
    const uint64_t at = machine->memory().allocate_device(0, 31).address;
    const uint8_t one = 1;
    machine->device(0).default_stream().fill(at, &one, 1, 31);
    machine->device(0).synchronize();
    EXPECT_EQ(held(*machine, at, 31)[15], 1);
    EXPECT_EQ(held(*machine, at, 31)[16], 0);
    auto launch = std::make_unique<Launch>();
    launch->kernel = find_kernel("copy");
    for (auto &buffer : {0, 1})
        launch->buffers[static_cast<size_t>(buffer)] = {machine->memory().allocate_device(1, 64).address, 64};
    machine->device(1).default_stream().launch(std::move(launch));
    EXPECT_EQ(machine->device(1).synchronize(), Outcome::launch_failed);
    EXPECT_EQ(machine->device(0).status(), Outcome::ok);
}

TEST(ModelFaults, StaleLines) {
    auto machine = make("stale-line");
    Stream &stream = *machine->create_stream(0, {});
    const uint64_t shared = machine->memory().allocate_host(0, 4096).address,
                   at = machine->memory().allocate_device(0, 64).address;
    auto *const bytes = reinterpret_cast<uint8_t *>(shared); // NOLINT
    for (const uint8_t value : {1, 2}) {
        bytes[0] = value;
        stream.copy(at, shared, 64);
        stream.synchronize();
        EXPECT_EQ(held(*machine, at, 1)[0], 1);
    }
}

// What arrives in memory of device 1, of a copy that device 0 does after peers are enabled.
std::vector<uint8_t> at_peer(const std::string &faults, const std::string &link, bool enable) {
    auto machine = make(faults, profile_text("", link));
    EXPECT_TRUE(!enable || machine->enable_peer(0, 1) == Outcome::ok);
    const uint64_t src = on_device(*machine, 0, numbered(64)), dst = machine->memory().allocate_device(1, 64).address;
    machine->device(0).default_stream().copy(dst, src, 64);
    EXPECT_EQ(machine->device(0).synchronize(), Outcome::ok);
    return held(*machine, dst, 64);
}

TEST(ModelFaults, Peers) {
    const std::vector<uint8_t> nothing(64, 0);
    EXPECT_EQ(at_peer("", "peer = \"works\"", true), numbered(64));
    EXPECT_EQ(at_peer("", "peer = \"advertised-but-drops\"", false), numbered(64)); // through the host
    EXPECT_EQ(at_peer("", "peer = \"advertised-but-drops\"", true), nothing);
    EXPECT_EQ(at_peer("iommu-redirect", "peer = \"works\"", true), nothing);
    EXPECT_EQ(at_peer("peer-lies", "peer = \"none\"", true), nothing);
    EXPECT_EQ(at_peer("peer-drops-writes", "peer = \"works\"", true), nothing);
    auto machine = make("", profile_text("", "peer = \"none\""));
    EXPECT_FALSE(machine->peer_advertised(0, 1));
    EXPECT_EQ(machine->enable_peer(0, 1), Outcome::unsupported);
}

TEST(ModelFaults, Links) {
    auto machine = make("link-down:value=1;link-narrow:device=0;throttle;no-device:device=1;capacity-overstated");
    EXPECT_EQ(machine->peer_link(0, 1).lanes_up, 1u);
    EXPECT_EQ(machine->host_link(0).width, 4u);
    EXPECT_EQ(machine->host_link(0).bandwidth, 250'000'000u);
    EXPECT_EQ(make("link-down")->peer_link(1, 0).lanes_up, 0u);
    EXPECT_FALSE(make("link-down")->peer_advertised(0, 1));
    EXPECT_EQ(machine->device(0).health().get(Counter::throttled), 1u);
    EXPECT_EQ(machine->devices_of("generic"), std::vector<int>{0});
    EXPECT_EQ(machine->memory().usage(0).total, 128u << 20);
    EXPECT_EQ(machine->memory().true_usage(0).total, 64u << 20);
}

TEST(ModelFaults, Allocations) {
    auto machine = make("alignment-ignored:device=0;reused-dirty:device=0;same-memory:device=1,after=1");
    Memory &memory = machine->memory();
    const Allocation odd = memory.allocate_device(0, 64);
    EXPECT_EQ(odd.address % 512, 64u);
    EXPECT_EQ(held(*machine, odd.address, 1)[0], 0xa5);
    const uint64_t one = memory.allocate_device(1, 64).address, two = memory.allocate_device(1, 64).address;
    EXPECT_NE(one, two);
    memory.poke(one, "x", 1);
    EXPECT_EQ(held(*machine, two, 1)[0], 'x');
    auto leaky = make("leak");
    leaky->memory().free(leaky->memory().allocate_device(0, 1 << 20).address);
    EXPECT_EQ(leaky->memory().usage(0).free, 62u << 20);
}

TEST(ModelFaults, FreedInFlight) {
    auto machine = make("free-in-flight");
    Memory &memory = machine->memory();
    Stream &stream = *machine->create_stream(0, {});
    Event &flag = *machine->create_event(EventKind::flag);
    const uint64_t old = memory.allocate_device(0, 4096).address;
    const uint8_t one = 1;
    stream.wait(flag);
    stream.fill(old, &one, 1, 4096);
    EXPECT_EQ(memory.free(old), Outcome::ok); // at once
    const uint64_t young = memory.allocate_device(0, 4096).address;
    EXPECT_NE(young, old);
    flag.set();
    EXPECT_EQ(stream.synchronize(), Outcome::ok);
    EXPECT_EQ(held(*machine, young, 1)[0], 1); // someone else's write
}

TEST(ModelFaults, ManagedMemoryOfTheWrongKind) {
    auto machine = make("wrong-kind");
    const uint64_t managed = machine->memory().allocate_managed(0, 64).address,
                   at = machine->memory().allocate_device(0, 64).address;
    *reinterpret_cast<uint8_t *>(managed) = 7; // NOLINT
    Stream &stream = *machine->create_stream(0, {});
    for (const bool as_device : {true, false}) {
        Operation copy = Operation::copy(at, managed, 64);
        copy.as_device = as_device;
        stream.submit(std::move(copy));
        stream.synchronize();
        EXPECT_EQ(held(*machine, at, 1)[0], as_device ? 0 : 7);
    }
}

} // namespace
} // namespace hbf::model::test
