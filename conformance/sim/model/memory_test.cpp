// SPDX-License-Identifier: Apache-2.0
#include <csetjmp>
#include <csignal>
#include <fstream>
#include <set>

#include <gtest/gtest.h>
#include <sys/mman.h>

#include "conformance/sim/model/testing.hpp"

namespace hbf::model::test {
namespace {

TEST(ModelMemory, DeviceMemoryIsNotTheCpus) {
    auto machine = make();
    const Allocation made = machine->memory().allocate_device(0, 4096);
    ASSERT_EQ(made.outcome, Outcome::ok);
    EXPECT_DEATH(*reinterpret_cast<volatile char *>(made.address) = 1, ""); // NOLINT
    const auto info = machine->memory().find(made.address + 4095);
    ASSERT_TRUE(info);
    EXPECT_EQ(info->address, made.address);
    EXPECT_EQ(info->cpu, nullptr);
    EXPECT_FALSE(machine->memory().find(made.address + 4096));
}

TEST(ModelMemory, AnAddressIsNoRounderThanAskedFor) {
    auto machine = make();
    const Allocation usual = machine->memory().allocate_device(0, 100);
    EXPECT_EQ(usual.address % 1024, 512u);
    const Allocation round = machine->memory().allocate_device(0, 100, 65536);
    EXPECT_EQ(round.address % 65536, 0u);
}

TEST(ModelMemory, CapacityIsCountedAndGivenBack) {
    auto machine = make();
    Memory &memory = machine->memory();
    EXPECT_EQ(memory.usage(0).total, 64u << 20);
    EXPECT_EQ(memory.usage(0).free, 63u << 20);
    const Allocation big = memory.allocate_device(0, 60 << 20);
    ASSERT_EQ(big.outcome, Outcome::ok);
    EXPECT_EQ(memory.usage(0).free, 3u << 20);
    EXPECT_EQ(memory.usage(1).free, 63u << 20);
    EXPECT_EQ(memory.allocate_device(0, 4 << 20).outcome, Outcome::no_memory);
    EXPECT_EQ(memory.free(big.address), Outcome::ok);
    EXPECT_EQ(memory.free(big.address), Outcome::unknown_address);
    EXPECT_EQ(memory.usage(0).free, 63u << 20);
    EXPECT_EQ(memory.blocks(0), 0u);
}

TEST(ModelMemory, HostMemoryIsPinnedUpToItsSize) {
    auto machine = make();
    Memory &memory = machine->memory();
    EXPECT_EQ(memory.allocate_host(0, uint64_t{2} << 30).outcome, Outcome::no_memory);
    std::vector<char> own(10000);
    EXPECT_EQ(memory.register_host(0, own.data(), own.size()), Outcome::ok);
    EXPECT_EQ(memory.register_host(0, own.data() + 9999, 100), Outcome::busy);
    EXPECT_EQ(memory.find(address(own.data()) + 5)->kind, MemoryKind::registered);
    EXPECT_EQ(memory.free(address(own.data())), Outcome::unknown_address);
    EXPECT_EQ(memory.unregister_host(own.data() + 1), Outcome::unknown_address);
    EXPECT_EQ(memory.unregister_host(own.data()), Outcome::ok);
    EXPECT_EQ(memory.usage(on_host).free, uint64_t{1} << 30);
}

TEST(ModelMemory, ChecksNameWhatIsWrong) {
    auto machine = make();
    Memory &memory = machine->memory();
    const Agent copies{0, Agent::Kind::copy_engine}, kernels{0, Agent::Kind::compute};
    const uint64_t own = memory.allocate_device(0, 4096).address, other = memory.allocate_device(1, 4096).address;
    int local = 0;
    bool pageable = false;
    EXPECT_EQ(memory.check(copies, own, 4096), Outcome::ok);
    EXPECT_EQ(memory.check(copies, own + 1, 4096), Outcome::out_of_range);
    EXPECT_EQ(memory.check(copies, address(&local), 4, &pageable), Outcome::ok);
    EXPECT_TRUE(pageable);
    EXPECT_EQ(memory.check(kernels, address(&local), 4), Outcome::unknown_address);
    EXPECT_EQ(memory.check(kernels, other, 1), Outcome::no_access);
    EXPECT_EQ(machine->enable_peer(0, 1), Outcome::ok);
    EXPECT_EQ(machine->enable_peer(0, 1), Outcome::busy);
    EXPECT_EQ(memory.check(kernels, other, 1), Outcome::ok);
    EXPECT_EQ(memory.check({1, Agent::Kind::compute}, own, 1), Outcome::no_access); // one way only
}

TEST(ModelMemory, MappedByHand) {
    auto machine = make();
    Memory &memory = machine->memory();
    const Allocation range = memory.reserve(4 * 65536, 65536);
    ASSERT_EQ(range.outcome, Outcome::ok);
    const Allocation physical = memory.create_physical(0, 2 * 65536);
    ASSERT_EQ(physical.outcome, Outcome::ok);
    EXPECT_EQ(memory.create_physical(0, 65537).outcome, Outcome::invalid);
    EXPECT_EQ(memory.usage(0).free, (63u << 20) - 2 * 65536);
    EXPECT_EQ(memory.check({0, Agent::Kind::copy_engine}, range.address, 1), Outcome::unknown_address);
    EXPECT_EQ(memory.map(range.address + 65536, 2 * 65536, 0, physical.address), Outcome::ok);
    EXPECT_EQ(memory.map(range.address, 2 * 65536, 0, physical.address), Outcome::busy);
    EXPECT_EQ(memory.check({0, Agent::Kind::copy_engine}, range.address + 65536, 1), Outcome::no_access);
    EXPECT_EQ(memory.set_access(range.address + 65536, 2 * 65536, 0, true), Outcome::ok);
    EXPECT_EQ(memory.check({0, Agent::Kind::compute}, range.address + 65536, 2 * 65536), Outcome::ok);
    EXPECT_FALSE(memory.access(range.address + 65536, 1));
    EXPECT_EQ(memory.release_physical(physical.address), Outcome::ok);
    const uint32_t word = 77;
    EXPECT_EQ(memory.poke(range.address + 65536, &word, 4), Outcome::ok); // its memory lives on
    EXPECT_EQ(memory.unreserve(range.address, 4 * 65536), Outcome::busy);
    EXPECT_EQ(memory.unmap(range.address + 65536, 65536), Outcome::invalid); // half of it
    EXPECT_EQ(memory.unmap(range.address + 65536, 2 * 65536), Outcome::ok);
    EXPECT_EQ(memory.usage(0).free, 63u << 20);
    EXPECT_EQ(memory.unreserve(range.address, 4 * 65536), Outcome::ok);
}

TEST(ModelMemory, ASoftwareDomainMovesNothingByItself) {
    auto machine = make();
    Memory &memory = machine->memory();
    const uint64_t at = memory.allocate_host(0, 4096, 0, 0, Coherence::software).address;
    const uint64_t device = memory.allocate_device(0, 4096).address;
    auto *const bytes = reinterpret_cast<uint8_t *>(at); // NOLINT
    Stream &stream = machine->device(0).default_stream();
    const Agent agent{0, Agent::Kind::copy_engine};
    const auto read = [&] {
        EXPECT_EQ(stream.copy(device, at, 64), Outcome::ok);
        EXPECT_EQ(stream.synchronize(), Outcome::ok);
        return held(*machine, device, 1)[0];
    };
    bytes[0] = 1;
    EXPECT_EQ(read(), 1);
    bytes[0] = 2;
    EXPECT_EQ(read(), 1); // the line that it has
    EXPECT_EQ(memory.invalidate(agent, at, 1), Outcome::ok);
    EXPECT_EQ(read(), 2);

    const uint8_t nine = 9;
    EXPECT_EQ(stream.fill(at + 10, &nine, 1, 1), Outcome::ok);
    EXPECT_EQ(stream.synchronize(), Outcome::ok);
    EXPECT_EQ(bytes[10], 0);
    bytes[11] = 5; // beside it, in the same line
    EXPECT_EQ(memory.write_back(agent, at + 10, 1), Outcome::ok);
    EXPECT_EQ(bytes[10], 9);
    EXPECT_EQ(bytes[11], 0);
}

TEST(ModelMemory, ThirdPartiesArePostedUnderFault) {
    auto machine = make("posted-write");
    Memory &memory = machine->memory();
    const uint64_t at = memory.allocate_device(0, 64).address;
    const uint64_t word = 0x1234;
    EXPECT_EQ(memory.third_party_write(at, &word, 8), Outcome::ok);
    EXPECT_EQ(held(*machine, at, 1)[0], 0);
    memory.flush_posted(1);
    EXPECT_EQ(held(*machine, at, 1)[0], 0);
    memory.flush_posted(0);
    EXPECT_EQ(held(*machine, at, 1)[0], 0x34);
}

TEST(ModelMemory, OutOfMemoryAtTheNth) {
    auto machine = make("oom:after=2,count=1");
    Memory &memory = machine->memory();
    EXPECT_EQ(memory.allocate_device(0, 64).outcome, Outcome::ok);
    EXPECT_EQ(memory.allocate_device(1, 64).outcome, Outcome::ok);
    EXPECT_EQ(memory.allocate_device(0, 64).outcome, Outcome::no_memory);
    EXPECT_EQ(memory.allocate_device(0, 64).outcome, Outcome::ok);
}

TEST(ModelMemory, FreeWaitsUnlessItIsFaulty) {
    auto machine = make();
    Stream &stream = *machine->create_stream(0, {});
    const auto bytes = numbered(8 << 20);
    const uint64_t src = on_device(*machine, 0, bytes), dst = machine->memory().allocate_device(0, bytes.size()).address;
    for (int i = 0; i < 4; ++i) ASSERT_EQ(stream.copy(dst, src, bytes.size()), Outcome::ok);
    EXPECT_EQ(machine->memory().free(src), Outcome::ok);
    EXPECT_EQ(stream.completed(), 4u);
    EXPECT_EQ(stream.query(), Outcome::ok);
}

TEST(ModelMemory, WorkInFlightMeetsNoMemoryWhereFreeDoesNotWait) {
    auto machine = make();
    Contract contract;
    contract.free_waits = false;
    machine->device(0).set_contract(contract);
    Stream &stream = *machine->create_stream(0, {});
    const uint64_t flag = machine->memory().allocate_host(0, 8).address;
    const uint64_t src = machine->memory().allocate_device(0, 4096).address;
    const uint64_t dst = machine->memory().allocate_device(0, 4096).address;
    Operation wait;
    wait.kind = Operation::Kind::wait_value;
    wait.src = flag;
    wait.size = 8;
    wait.value = 1;
    stream.submit(std::move(wait));
    ASSERT_EQ(stream.copy(dst, src, 4096), Outcome::ok);
    EXPECT_EQ(machine->memory().free(src), Outcome::ok);
    const uint64_t one = 1;
    machine->memory().poke(flag, &one, 8);
    EXPECT_TRUE(is_error(stream.synchronize()));
    EXPECT_TRUE(is_error(machine->device(0).status())); // sticky
    EXPECT_TRUE(is_error(stream.copy(dst, dst, 1)));
}

// Whole pages of zeros are not written one by one; what is beside them stays as it was.
TEST(ModelMemory, ZerosOfAnyPlaceAndLength) {
    auto machine = make();
    Stream &stream = machine->device(0).default_stream();
    const uint8_t zero = 0;
    constexpr uint64_t size = 4 << 20;
    const std::vector<uint8_t> before = numbered(size);
    for (const uint64_t from : {0u, 4096u, 3u})
        for (const uint64_t length : {(2u << 20) + 100u, 1u << 20, (1u << 20) - 1u, 5u}) {
            const uint64_t at = on_device(*machine, 0, before);
            EXPECT_EQ(stream.fill(at + from, &zero, 1, length), Outcome::ok);
            EXPECT_EQ(stream.synchronize(), Outcome::ok);
            std::vector<uint8_t> wanted = before;
            std::fill_n(wanted.begin() + static_cast<ptrdiff_t>(from), length, 0);
            EXPECT_TRUE(held(*machine, at, size) == wanted) << from << " " << length;
            machine->memory().free(at);
        }
}

uint64_t resident_pages() {
    uint64_t mapped = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> mapped >> resident;
    return resident;
}

// Also under a fault that is none of fills: what is zeroed when it is allocated is not all there for that.
TEST(ModelMemory, ZeroingTakesNoMemory) {
    for (const char *const faults : {"", "drop-tail"}) {
        auto machine = make(faults);
        const Allocation made = machine->memory().allocate_device(0, 48 << 20);
        ASSERT_EQ(made.outcome, Outcome::ok);
        const uint8_t zero = 0;
        const uint64_t before = resident_pages();
        ASSERT_NE(before, 0u);
        EXPECT_EQ(machine->device(0).default_stream().fill(made.address, &zero, 1, 48 << 20), Outcome::ok);
        EXPECT_EQ(machine->device(0).default_stream().synchronize(), Outcome::ok);
        EXPECT_LT(resident_pages(), before + (24 << 20) / 4096) << faults;
    }
}

} // namespace
} // namespace hbf::model::test
