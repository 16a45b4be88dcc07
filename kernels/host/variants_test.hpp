// SPDX-License-Identifier: Apache-2.0
// Runs a test once for each instruction set this CPU has, and gives it buffers that end at a page which must not be touched.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "target.hpp"

namespace hbf::kernels::testing {

class EachVariant : public ::testing::TestWithParam<const char *> {
protected:
    void SetUp() override { ASSERT_TRUE(use_kernels_target(GetParam())); }
    void TearDown() override { use_kernels_target(""); }
};

#define HBF_FOR_EACH_VARIANT(suite)                                                                                         \
    INSTANTIATE_TEST_SUITE_P(Cpu, suite, ::testing::ValuesIn(hbf::kernels::kernels_targets()),                              \
                             [](const auto &variant) { return std::string(variant.param); })

// `size` bytes between two pages without access.
class Guarded {
public:
    explicit Guarded(size_t size) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
        inner_ = (size + page_ - 1) / page_ * page_;
        base_ = static_cast<uint8_t *>(mmap(nullptr, inner_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        if (base_ == MAP_FAILED || mprotect(base_ + page_, inner_, PROT_READ | PROT_WRITE)) throw std::bad_alloc();
    }
    ~Guarded() { munmap(base_, inner_ + 2 * page_); }
    Guarded(const Guarded &) = delete;
    Guarded &operator=(const Guarded &) = delete;

    uint8_t *begin() const { return base_ + page_; }
    uint8_t *end() const { return begin() + inner_; }
    size_t size() const { return inner_; }

private:
    size_t page_, inner_;
    uint8_t *base_;
};

inline std::vector<uint8_t> random_bytes(size_t size, uint32_t seed) {
    std::mt19937_64 random(seed);
    std::vector<uint8_t> bytes(size + 8);
    for (size_t at = 0; at < size; at += 8) {
        const uint64_t word = random();
        memcpy(bytes.data() + at, &word, 8);
    }
    bytes.resize(size);
    return bytes;
}

} // namespace hbf::kernels::testing
