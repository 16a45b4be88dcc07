// SPDX-License-Identifier: Apache-2.0
// What is wrong with a runtime reaches whoever asks, and nothing hangs or crashes here.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "plugins/amd/tests/emulated/scene.hpp"

namespace hbf::amd {
namespace {

std::string ids() {
    std::string out;
    for (const Found &found : survey("").devices) out += fmt::format("{} {}\n", found.info.id, found.info.name);
    return out;
}

Seen probed(const std::string &faults) {
    return seen("mi300x", faults, ids);
}

TEST(EmulatedProbe, FindsBothDevicesByTheirAddresses) {
    const Seen all = probed("");
    ASSERT_EQ(all.status, HBF_OK) << all.text;
    EXPECT_EQ(all.text,
              "gpu-0000:05:00.0 AMD Instinct MI300X (emulated)\ngpu-0000:85:00.0 AMD Instinct MI300X (emulated)\n");
}

TEST(EmulatedProbe, LeavesTheRuntimeOutOfThisProcess) {
    const Seen all = seen("mi300x", "", [] { return ids().substr(0, 3) + (library_is_here() ? " here" : " elsewhere"); });
    EXPECT_EQ(all.text, "gpu elsewhere");
}

TEST(EmulatedProbe, AMaskHidesDevicesAndIsNamedWhereItHidesAll) {
    const Seen one = seen("mi300x", "", [] {
        setenv("HIP_VISIBLE_DEVICES", "1", 1);
        return ids();
    });
    EXPECT_EQ(one.text, "gpu-0000:85:00.0 AMD Instinct MI300X (emulated)\n");
    const Seen none = seen("mi300x", "", [] {
        setenv("HIP_VISIBLE_DEVICES", "-1", 1);
        return survey(HBF_AMD_MACHINE).devices.empty() ? "" : std::string("devices");
    });
    EXPECT_NE(none.text.find("no_device"), std::string::npos) << none.text;
    EXPECT_NE(none.text.find("HIP_VISIBLE_DEVICES=-1"), std::string::npos) << none.text;
}

TEST(EmulatedProbe, AMachineOfATestHasOnlyItsOwnDevices) {
    const Seen all = seen("mi300x", "", [] { return fmt::format("{}", survey(HBF_AMD_MACHINE).devices.size()); });
    EXPECT_EQ(all.status, HBF_UNAVAILABLE);
    EXPECT_NE(all.text.find("is not a device of the machine below"), std::string::npos) << all.text;
}

struct Bad {
    const char *fault, *says;
    hbf_status status;
};
class EmulatedBad : public testing::TestWithParam<Bad> {};

TEST_P(EmulatedBad, HasItsReason) {
    const Seen bad = probed(GetParam().fault);
    EXPECT_EQ(bad.status, GetParam().status) << bad.text;
    EXPECT_NE(bad.text.find(GetParam().says), std::string::npos) << bad.text;
}

INSTANTIATE_TEST_SUITE_P(Runtime, EmulatedBad,
                         testing::Values(Bad{"init-crashes", "crashed (ended by SIGSEGV)", HBF_INTERNAL},
                                         Bad{"init-hangs", "did not answer within 8 s", HBF_INTERNAL},
                                         Bad{"old-driver", "driver_too_old:", HBF_UNSUPPORTED},
                                         Bad{"garbage-version", "which is no version", HBF_UNSUPPORTED},
                                         Bad{"init-fails", "hipInit gives", HBF_UNAVAILABLE},
                                         Bad{"init-permission", "driver_absent:", HBF_UNAVAILABLE}, // no /dev/kfd here
                                         Bad{"no-device", "driver_absent:", HBF_UNAVAILABLE},       // nor a /dev/kfd
                                         Bad{"stub-library", "driver_stub:", HBF_UNAVAILABLE}),
                         [](const auto &test) {
                             std::string name = test.param.fault;
                             for (char &c : name)
                                 if (c == '-') c = '_';
                             return name;
                         });

} // namespace
} // namespace hbf::amd
