// SPDX-License-Identifier: Apache-2.0
// Regions in this machine's own memory.
#include <cerrno>
#include <fstream>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/shell/build_facts.hpp"
#include "memory/address_range.hpp"
#include "memory/memory_tier.hpp"
#include "memory/placement.hpp"
#include "memory/populate.hpp"
#include "memory/smaps.hpp"

using namespace hbf::host;
using testing::AnyOf;
using testing::HasSubstr;

constexpr bool sanitized = hbf::sdk::shell::sanitizer_kind != HBF_SANITIZER_NONE;

namespace {

constexpr uint64_t mib = uint64_t{1} << 20;

class MemoryTierTest : public testing::Test {
protected:
    void SetUp() override {
        MemoryOptions options;
        options.dram_bytes = 128 * mib * discover_memory_tiers(options, hbf::sdk::Log()).size(); // shared by the nodes
        options.hbf_bytes = 64 * mib;
        tiers = discover_memory_tiers(options, hbf::sdk::Log());
        ASSERT_FALSE(tiers.empty());
        tier = tiers.front().get();
        tier->describe(info);
    }
    hbf::sdk::Failure refusal(uint64_t size, uint64_t alignment = 0, hbf_pages pages = HBF_PAGES_DEFAULT) {
        try {
            tier->free(tier->alloc(size, alignment, pages));
        } catch (const hbf::sdk::Failure &failure) {
            return failure;
        }
        return {HBF_OK, "no failure"};
    }
    uint64_t left() const {
        hbf_tier_info now{};
        tier->describe(now);
        return now.available;
    }
    std::vector<std::unique_ptr<MemoryTier>> tiers;
    MemoryTier *tier = nullptr;
    hbf_tier_info info{};
};

// The kernel's own access to a bad address is an error code, not a signal. The bare call, as sanitizers wrap the other.
bool kernel_can_read(int pipe_end, const std::byte *address) {
    return syscall(SYS_write, pipe_end, address, 1) == 1;
}

// By other means than the code's own: mincore, and a look at the bytes.
void expect_touched(const Mapping &mapping, uint64_t size) {
    const uint64_t page = base_page_size();
    std::vector<unsigned char> there((size + page - 1) / page);
    ASSERT_EQ(mincore(mapping.address, size, there.data()), 0);
    for (size_t i = 0; i < there.size(); ++i) ASSERT_TRUE(there[i] & 1) << "page " << i;
    for (uint64_t at = 0; at + 8 <= size; at += 4096) {
        ASSERT_NE(*reinterpret_cast<uint64_t *>(mapping.address + at), 0u) << "could be the zero page, at " << at;
    }
}

TEST_F(MemoryTierTest, ThisMachineHasNearMemoryAndHbf) {
    EXPECT_EQ(info.kind, HBF_TIER_HBM);
    bool hbf = false;
    for (const auto &each : tiers) {
        hbf_tier_info other{};
        each->describe(other);
        EXPECT_EQ(other.capacity % (2 * mib), 0u);
        EXPECT_NE(std::string(other.detail), "");
        hbf = hbf || other.kind == HBF_TIER_HBF;
    }
    EXPECT_TRUE(hbf);
}

TEST_F(MemoryTierTest, RegionsAreTouchedAlignedAndOnTheirNode) {
    for (const uint64_t size : {uint64_t{1}, uint64_t{4096}, uint64_t{65536}, 2 * mib, 2 * mib + 1, 33 * mib}) {
        const Mapping mapping = tier->alloc(size, 0, HBF_PAGES_DEFAULT);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(mapping.address) % info.alignment, 0u);
        EXPECT_THAT(mapping.page_size, AnyOf(base_page_size(), transparent_page_size()));
        expect_touched(mapping, size);
        if (info.flags & HBF_TIER_FLAG_NUMA_BOUND) {
            const PagePlace place = check_node(mapping.address, (size + 4095) / 4096 * 4096, info.numa_node);
            EXPECT_TRUE(place.known && place.all_there);
            EXPECT_FALSE(check_node(mapping.address, 4096, info.numa_node + 1).all_there)
                << "the check must be able to fail";
        }
        tier->free(mapping);
    }
    EXPECT_EQ(left(), info.available);
}

TEST_F(MemoryTierTest, AlignmentIsKept) {
    for (const uint64_t alignment : {uint64_t{1}, uint64_t{4096}, 2 * mib, 64 * mib, uint64_t{1} << 33}) {
        const Mapping mapping = tier->alloc(5000, alignment, HBF_PAGES_DEFAULT);
        EXPECT_EQ(reinterpret_cast<uintptr_t>(mapping.address) % alignment, 0u) << alignment;
        tier->free(mapping);
    }
    EXPECT_EQ(refusal(4096, 3).status, HBF_INVALID);
    EXPECT_EQ(refusal(4096, uint64_t{1} << 63).status, HBF_UNSUPPORTED) << "no address has it, however much is freed";
}

TEST_F(MemoryTierTest, SizesBeyondTheTier) {
    EXPECT_EQ(refusal(0).status, HBF_INVALID);
    for (const uint64_t size : {info.capacity + 1, uint64_t{1} << 62, UINT64_MAX - 4095, UINT64_MAX}) {
        const auto failure = refusal(size);
        EXPECT_EQ(failure.status, HBF_EXHAUSTED) << size;
        EXPECT_THAT(failure.message, HasSubstr("dram_bytes"));
    }
}

TEST_F(MemoryTierTest, AFullTierKeepsWhatIsThereAndTakesBack) {
    const Mapping first = tier->alloc(2 * mib, 0, HBF_PAGES_DEFAULT);
    first.address[12345] = std::byte{42};
    const Mapping rest = tier->alloc(info.capacity - 2 * mib, 0, HBF_PAGES_DEFAULT);
    EXPECT_EQ(left(), 0u);
    EXPECT_EQ(refusal(1).status, HBF_EXHAUSTED);
    EXPECT_EQ(first.address[12345], std::byte{42});
    tier->free(rest);
    EXPECT_EQ(refusal(info.capacity - 2 * mib).status, HBF_OK);
    tier->free(first);
    EXPECT_EQ(left(), info.available);
}

TEST_F(MemoryTierTest, RoundingNeverCostsTheLastBytes) {
    const Mapping most = tier->alloc(info.capacity - 2 * mib - 4096, 0, HBF_PAGES_4K);
    const Mapping last = tier->alloc(2 * mib + 4096, 0, HBF_PAGES_DEFAULT); // does not fit as whole huge pages
    EXPECT_EQ(left(), 0u);
    tier->free(last);
    tier->free(most);
}

TEST_F(MemoryTierTest, ARegionTakesLittleMoreThanItNeeds) {
    for (const uint64_t size : {uint64_t{1}, uint64_t{65536}, 2 * mib + 1, 3 * mib, 31 * mib + 5}) {
        const Mapping mapping = tier->alloc(size, 0, HBF_PAGES_DEFAULT);
        EXPECT_LE(info.available - left(), size + std::max(size / 8, base_page_size())) << size;
        tier->free(mapping);
    }
}

TEST_F(MemoryTierTest, SmallPagesOnRequest) {
    if (base_page_size() != 4096) {
        EXPECT_EQ(refusal(4096, 0, HBF_PAGES_4K).status, HBF_UNAVAILABLE);
        return;
    }
    const Mapping mapping = tier->alloc(8 * mib, 2 * mib, HBF_PAGES_4K);
    EXPECT_EQ(mapping.page_size, 4096u);
    const auto facts = page_facts(mapping.address);
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->transparent, 0u);
    EXPECT_EQ(facts->resident, 8 * mib);
    tier->free(mapping);
}

TEST_F(MemoryTierTest, TransparentPagesAreWholeOrRefused) {
    const uint64_t huge = transparent_page_size();
    try {
        const Mapping mapping = tier->alloc(3 * mib, 0, HBF_PAGES_THP);
        ASSERT_NE(huge, 0u);
        EXPECT_EQ(mapping.page_size, huge);
        EXPECT_EQ(page_facts(mapping.address)->transparent, (3 * mib + huge - 1) / huge * huge);
        tier->free(mapping);
    } catch (const hbf::sdk::Failure &failure) {
        EXPECT_EQ(failure.status, HBF_UNAVAILABLE);
        EXPECT_THAT(failure.message, AnyOf(HasSubstr("transparent_hugepage"), HasSubstr("fragmented")));
    }
    EXPECT_EQ(left(), info.available);
}

TEST_F(MemoryTierTest, PoolPagesAreThereOrRefusedWithTheRemedy) {
    for (const hbf_pages pages : {HBF_PAGES_2M, HBF_PAGES_1G}) {
        try {
            const Mapping mapping = tier->alloc(4096, 0, pages);
            EXPECT_EQ(mapping.page_size, pages == HBF_PAGES_2M ? 2 * mib : 1024 * mib);
            tier->free(mapping);
        } catch (const hbf::sdk::Failure &failure) {
            EXPECT_THAT(failure.status, AnyOf(HBF_UNAVAILABLE, HBF_EXHAUSTED)); // 1G is more than this tier's budget
            EXPECT_THAT(failure.message, AnyOf(HasSubstr("hugepages"), HasSubstr("dram_bytes")));
        }
    }
    EXPECT_EQ(refusal(4096, 0, 77).status, HBF_INVALID);
    EXPECT_EQ(left(), info.available);
}

TEST_F(MemoryTierTest, NoAddressSpaceIsExhausted) {
    if (sanitized) GTEST_SKIP() << "sanitizers need address space of their own";
    const pid_t child = fork();
    if (child == 0) {
        uint64_t pages = 0;
        std::ifstream("/proc/self/statm") >> pages;
        const rlimit limit{pages * base_page_size() + 16 * mib, RLIM_INFINITY};
        if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
        const auto failure = refusal(64 * mib);
        const bool small_still_fits = refusal(mib).status == HBF_OK;
        _exit(failure.status == HBF_EXHAUSTED && failure.message.find("ulimit -v") != std::string::npos && small_still_fits
                  ? 0
                  : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

TEST_F(MemoryTierTest, ChildrenDoNotInheritRegionsAndOverrunsFault) {
    const Mapping mapping = tier->alloc(mib, 0, HBF_PAGES_DEFAULT);
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    EXPECT_TRUE(kernel_can_read(pipe_ends[1], mapping.address + mib - 1));
    EXPECT_FALSE(kernel_can_read(pipe_ends[1], mapping.address + mib)) << "the guard page";
    const pid_t child = fork();
    // A sanitizer's runtime maps memory of its own in the child, perhaps just there.
    if (child == 0) _exit(!sanitized && kernel_can_read(pipe_ends[1], mapping.address) ? 1 : 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    tier->free(mapping);
}

TEST_F(MemoryTierTest, ManyThreadsNeverTakeMoreThanThereIs) {
    std::vector<std::thread> threads;
    std::atomic<int> failures{0}, wrong{0};
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
            for (int i = 0; i < 10; ++i) {
                try {
                    const Mapping mapping = tier->alloc(48 * mib, 0, HBF_PAGES_DEFAULT);
                    mapping.address[0] = mapping.address[48 * mib - 1] = std::byte{1};
                    tier->free(mapping);
                } catch (const hbf::sdk::Failure &failure) {
                    (failure.status == HBF_EXHAUSTED ? failures : wrong)++;
                }
            }
        });
    }
    for (auto &thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(left(), info.available);
}

TEST_F(MemoryTierTest, FreeOfNothingIsHarmless) {
    tier->free({});
    EXPECT_EQ(left(), info.available);
}

TEST(Populate, ThreadsFollowTheSize) {
    EXPECT_EQ(populate_threads(4096, 8), 1u);
    EXPECT_EQ(populate_threads(255 * mib, 8), 1u);
    EXPECT_EQ(populate_threads(1024 * mib, 8), 8u);
    EXPECT_EQ(populate_threads(uint64_t{1} << 40, 1000), 16u);
}

TEST(Populate, ReachesEveryPageWithSeveralThreads) {
    const PageKind kind{HBF_PAGES_DEFAULT, base_page_size(), 0, -1};
    AddressRange range(300 * mib, 0, kind);
    ASSERT_EQ(populate(range.body(), range.size(), kind, {0, 1}), 0);
    expect_touched({range.body(), range.mapped(), 0}, range.size());
}

TEST(Populate, BadMemoryIsAnErrorNotASignal) {
    const PageKind kind{HBF_PAGES_DEFAULT, base_page_size(), 0, -1};
    AddressRange range(8 * mib, 0, kind);
    ASSERT_EQ(mprotect(range.body() + 4 * mib, base_page_size(), PROT_NONE), 0);
    EXPECT_NE(populate(range.body(), range.size(), kind, {}), 0);
}

TEST(Smaps, FindsTheAreaAndStops) {
    std::istringstream text("1000-3000 rw-p 00000000 00:00 0 \nRss:   4 kB\nKernelPageSize:        4 kB\n"
                            "400000-800000 rw-p 00000000 00:00 0 \nKernelPageSize:        4 kB\nRss:             4096 kB\n"
                            "AnonHugePages:      2048 kB\nPrivate_Hugetlb:       0 kB\n"
                            "900000-a00000 rw-p 00000000 00:00 0 \nRss: 99 kB\n");
    const auto facts = parse_smaps(text, 0x400000);
    ASSERT_TRUE(facts);
    EXPECT_EQ(facts->kernel_page, 4096u);
    EXPECT_EQ(facts->transparent, 2 * mib);
    EXPECT_EQ(facts->resident, 4 * mib);
    text.clear();
    text.seekg(0);
    EXPECT_FALSE(parse_smaps(text, 0x500000)) << "inside an area is not its begin";
    std::istringstream nothing("garbage\n\n-\nzz-\n");
    EXPECT_FALSE(parse_smaps(nothing, 0));
}

} // namespace
