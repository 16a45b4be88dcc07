// SPDX-License-Identifier: Apache-2.0
// A driver that is missing, a stub, too old, of nonsense, or lacks something: a reason each.
#include <gtest/gtest.h>

#include "hbf/sdk/failure.hpp"
#include "plugins/nvidia/library.hpp"

namespace hbf::nvidia {
namespace {

struct BadLibrary {
    const char *file, *reason, *detail;
    hbf_status status;
};

class BadLibraries : public ::testing::TestWithParam<BadLibrary> {};

TEST_P(BadLibraries, AreRefusedWithTheReason) {
    const BadLibrary &bad = GetParam();
    try {
        (void)load_driver(bad.file);
        FAIL() << "it was taken";
    } catch (const sdk::Failure &failure) {
        EXPECT_EQ(failure.status, bad.status);
        EXPECT_TRUE(failure.message.starts_with(bad.reason)) << failure.message;
        EXPECT_NE(failure.message.find(bad.detail), std::string::npos) << failure.message;
        EXPECT_NE(failure.message.find("remedy:"), std::string::npos) << failure.message;
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, BadLibraries,
    ::testing::Values(BadLibrary{"/nowhere/libcuda.so.1", "driver_absent: ", "/nowhere/libcuda.so.1", HBF_UNAVAILABLE},
                      BadLibrary{HBF_BAD_CUDA "1.stub", "driver_stub: ", "stub", HBF_UNAVAILABLE},
                      BadLibrary{HBF_BAD_CUDA "2.stub", "driver_too_old: ", "CUDA 11.8, 12.0 is the least", HBF_UNSUPPORTED},
                      BadLibrary{HBF_BAD_CUDA "3.stub", "driver_too_old: ", "-5", HBF_UNSUPPORTED},
                      BadLibrary{HBF_BAD_CUDA "4.stub", "driver_too_old: ", "cuGetProcAddress_v2", HBF_UNSUPPORTED},
                      BadLibrary{HBF_BAD_CUDA "5.stub", "driver_too_old: ", "cuMemMap", HBF_UNSUPPORTED}));

} // namespace
} // namespace hbf::nvidia
