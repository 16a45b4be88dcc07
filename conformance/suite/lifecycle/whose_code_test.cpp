// SPDX-License-Identifier: Apache-2.0
// A driver is told from what opened it: its memory, its threads.
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "conformance/suite/allocation.hpp"
#include "conformance/suite/forked.hpp"
#include "conformance/suite/visible.hpp"
#include "conformance/suite/whose_code.hpp"

namespace hbf::conformance {
namespace {

struct Driver {
    void *(*takes)(bool) = nullptr;
    void (*starts_a_thread)() = nullptr;
};

Driver open_driver() {
    no_driver_yet();
    void *const library = dlopen(HBF_TEST_DRIVER, RTLD_NOW | RTLD_LOCAL);
    if (!library) throw std::runtime_error(dlerror());
    Driver driver;
    driver.takes = reinterpret_cast<void *(*)(bool)>(dlsym(library, "driver_takes"));
    driver.starts_a_thread = reinterpret_cast<void (*)()>(dlsym(library, "driver_starts_a_thread"));
    return driver;
}

void stay_in_a_thread() {
    std::thread([] {
        for (;;) pause();
    }).detach();
}

// In a child, where the driver is new.
std::string said_of(const std::function<std::string()> &body) {
    return run_forked(body, 30).trouble();
}

TEST(WhoseCode, ADriversMemoryIsNeitherCountedNorMadeToFail) {
    EXPECT_EQ(said_of([] {
                  const Driver driver = open_driver();
                  const AllocationWatch watch;
                  FailAllocation failing(1);
                  for (const bool through : {false, true})
                      if (!driver.takes(through)) return "memory of the driver was made to fail";
                  const uint64_t counted = watch.made_here();
                  bool failed = false;
                  try {
                      void *block = ::operator new(16);
                      asm volatile("" : "+r"(block));
                      ::operator delete(block);
                  } catch (const std::bad_alloc &) {
                      failed = true;
                  }
                  failing.disarm();
                  if (counted != 0) return "memory of the driver was counted";
                  return failed ? "" : "memory of this program was not made to fail";
              }),
              "");
}

TEST(WhoseCode, BeforeItIsOpenThereIsNone) {
    EXPECT_EQ(said_of([] {
                  no_driver_yet();
                  if (!drivers().empty()) return std::string("there is a driver: ") + drivers().front();
                  (void)open_driver();
                  return drivers().size() == 1 ? std::string() : "the driver is not seen";
              }),
              "");
}

// A life: with a driver it may leave a thread the first time, and never again.
std::string left_by_lives(bool opens_driver, int left_threads) {
    no_driver_yet();
    const Visible before = look();
    if (opens_driver) open_driver().starts_a_thread();
    if (left_threads > 1) stay_in_a_thread();
    const Visible first = look();
    if (left_threads > 0) stay_in_a_thread();
    return left_behind(before, first, 0.2);
}

TEST(LeftBehind, AThreadThatADriverBeganOnceIsItsOwn) {
    EXPECT_EQ(said_of([] { return left_by_lives(true, 0); }), "");
}

TEST(LeftBehind, AThreadOfALaterLifeIsNot) {
    EXPECT_NE(said_of([] { return left_by_lives(true, 1); }).find("is new"), std::string::npos);
}

TEST(LeftBehind, WithoutADriverNoThreadMayStay) {
    EXPECT_NE(said_of([] { return left_by_lives(false, 1); }).find("is new"), std::string::npos);
    EXPECT_NE(said_of([] { return left_by_lives(false, 2); }).find("is new"), std::string::npos);
    EXPECT_EQ(said_of([] { return left_by_lives(false, 0); }), "");
}

} // namespace
} // namespace hbf::conformance
