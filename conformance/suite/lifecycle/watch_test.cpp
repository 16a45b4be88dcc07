// SPDX-License-Identifier: Apache-2.0
// What the cases look at a process, a library and memory with: each sees what it is there to see, and nothing else.
#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "conformance/suite/allocation.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/elf_view.hpp"
#include "conformance/suite/forked.hpp"
#include "conformance/suite/guarded.hpp"
#include "conformance/suite/visible.hpp"
#include "hbf/abi/host.h"

namespace hbf::conformance {
namespace {

// A block that no compiler leaves out.
struct Block {
    void *at = ::operator new(16);
    Block() { asm volatile("" : "+r"(at)); }
    ~Block() { ::operator delete(at); }
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;
};

TEST(Allocation, CountsWhatIsMadeAndWhatLives) {
    const AllocationWatch watch;
    {
        const Block one;
        {
            const Block gone;
        }
        EXPECT_EQ(watch.made_here(), 2u);
        EXPECT_EQ(watch.live(), 1);
    }
    EXPECT_EQ(watch.live(), 0);
    std::thread([] { const Block elsewhere; }).join();
    EXPECT_GT(watch.made(), watch.made_here());
}

TEST(Allocation, TheNthFailsOnceAndOnlyHere) {
    FailAllocation failing(2);
    const Block first;
    bool threw = false;
    try {
        const Block second;
    } catch (const std::bad_alloc &) {
        threw = true;
    }
    const Block third;
    failing.disarm();
    EXPECT_TRUE(threw);
    EXPECT_TRUE(failing.happened());
    FailAllocation unused(1000);
    std::thread([] {
        for (int i = 0; i < 2000; ++i) const Block elsewhere;
    }).join();
    unused.disarm();
    EXPECT_FALSE(unused.happened());
}

TEST(Guarded, TellsTheFirstAccessPastTheEndAndGoesOn) {
    const GuardedBytes bytes(10);
    bytes.data()[9] = std::byte{1};
    EXPECT_FALSE(bytes.touched());
    volatile std::byte *const past = bytes.data() + 13;
    *past = std::byte{2};
    EXPECT_EQ(bytes.touched(), 3u);
    EXPECT_TRUE(*past == std::byte{2});
    const GuardedBytes other(1); // has a guard of its own
    EXPECT_FALSE(other.touched());
}

TEST(Guarded, AShortStructEndsWhereItSays) {
    hbf_host_info info{};
    info.abi_min = 7;
    const Shortened<hbf_host_info> small(info, 8);
    EXPECT_EQ(small.get()->struct_size, 8u);
    EXPECT_EQ(small.value().abi_min, 7u);
    EXPECT_EQ(small.value().sanitizer, 0u);
    Extended<hbf_host_info> later;
    EXPECT_TRUE(later.tail_untouched());
    later.tail[63] = 0;
    EXPECT_FALSE(later.tail_untouched());
}

TEST(Guarded, AnotherFaultStillEndsTheProcess) {
    const GuardedBytes bytes(1);
    EXPECT_DEATH(*static_cast<volatile int *>(nullptr) = 1, ""); // by signal, or by a sanitizer that takes it
}

TEST(Forked, EveryEndingIsTold) {
    EXPECT_EQ(run_forked([] { return std::string(); }, 30).trouble(), "");
    EXPECT_EQ(run_forked([] { return std::string("a finding"); }, 30).trouble(), "a finding");
    EXPECT_EQ(run_forked([]() -> std::string { fail("a verdict"); }, 30).trouble(), "a verdict");
    EXPECT_NE(run_forked([]() -> std::string { throw std::runtime_error("x"); }, 30).trouble(), "");
    const Forked killed = run_forked(
        [] {
            std::raise(SIGKILL);
            return std::string();
        },
        30);
    EXPECT_FALSE(killed.well());
    EXPECT_EQ(killed.ending(), "ended by SIGKILL");
    const Forked left = run_forked([]() -> std::string { _exit(0); }, 30);
    EXPECT_FALSE(left.well()) << "exit status 0, but the body never came to its end";
    EXPECT_NE(left.trouble(), "");
    const Forked printed = run_forked(
        [] {
            (void)!write(STDOUT_FILENO, "a line\n", 7);
            return std::string();
        },
        30);
    EXPECT_EQ(printed.printed, "a line\n");
}

TEST(Forked, AHangIsEnded) {
    const Forked hung = run_forked(
        [] {
            for (;;) pause();
            return std::string();
        },
        0.1);
    EXPECT_TRUE(hung.timed_out);
    EXPECT_NE(hung.trouble().find("did not end"), std::string::npos);
}

TEST(Forked, AProgramTellsOnDescriptor3) {
    const Forked told = run_program({"/bin/sh", "-c", "printf 'word\\004' >&3; echo out; exit 3"}, 30);
    EXPECT_EQ(told.said, "word");
    EXPECT_TRUE(told.returned);
    EXPECT_EQ(told.code, 3);
    EXPECT_EQ(told.printed, "out\n");
    EXPECT_EQ(run_program({"/nonexistent-program"}, 30).code, 127);
}

std::string change_by(const std::function<void()> &what) {
    return run_forked(
               [&] {
                   const Visible before = look();
                   what();
                   return first_change(before, look());
               },
               30)
        .said;
}

TEST(Visible, EachChangeIsNamed) {
    EXPECT_EQ(change_by([] {}), "");
    EXPECT_EQ(change_by([] { setenv("HBF_A_VARIABLE", "1", 1); }), "environment variable HBF_A_VARIABLE (1) is new");
    EXPECT_NE(change_by([] { (void)!chdir("/"); }).find("working directory"), std::string::npos);
    EXPECT_NE(change_by([] { std::signal(SIGUSR1, SIG_IGN); }).find("signal USR1"), std::string::npos);
    EXPECT_NE(change_by([] { (void)!open("/dev/null", O_RDONLY); }).find("(/dev/null) is new"), std::string::npos);
    EXPECT_NE(change_by([] {
                  std::thread([] {
                      for (;;) pause();
                  }).detach();
              }).find("thread "),
              std::string::npos);
}

TEST(Visible, AJoinedThreadIsNone) {
    const Visible before = look();
    for (int i = 0; i < 50; ++i) {
        std::thread([] {}).join();
        EXPECT_EQ(first_change(before, look_after_joins(before, 30)), "");
    }
}

TEST(Visible, AFileThatIsOpenForAMomentIsNone) {
    std::atomic<bool> stop{false};
    std::thread reader([&] {
        while (!stop) close(open("/dev/null", O_RDONLY));
    });
    for (int i = 0; i < 200; ++i) {
        const Visible before = look();
        EXPECT_EQ(first_change(before, look_after_joins(before, 30)), "");
    }
    stop = true;
    reader.join();
}

TEST(Visible, AFileThatStaysOpenIsSeenAfterTheWaitToo) {
    const Visible before = look();
    const int file = open("/dev/null", O_RDONLY);
    EXPECT_NE(first_change(before, look_after_joins(before, 0.1)).find("(/dev/null) is new"), std::string::npos);
    close(file);
}

TEST(ElfView, SeesWhatALibraryShows) {
    void *const library = dlopen("libm.so.6", RTLD_NOW);
    ASSERT_NE(library, nullptr);
    const ElfView view = view_elf(library);
    EXPECT_NE(std::find(view.exported.begin(), view.exported.end(), "cos"), view.exported.end());
    EXPECT_EQ(std::find(view.exported.begin(), view.exported.end(), "malloc"), view.exported.end());
    EXPECT_NE(std::find(view.needed.begin(), view.needed.end(), "libc.so.6"), view.needed.end());
    EXPECT_EQ(view.run_path, "");
}

} // namespace
} // namespace hbf::conformance
