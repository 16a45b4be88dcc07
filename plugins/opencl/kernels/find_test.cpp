// SPDX-License-Identifier: Apache-2.0
// Which kernels a device offers, how they are built, and what is said where they cannot be.
#include <gtest/gtest.h>

#include "plugins/opencl/tests/fake/fixture.hpp"

namespace hbf::opencl {
namespace {

namespace device = kernels::device;

bool lists(const DeviceKernels &kernels, std::string_view name) {
    for (uint32_t i = 0; i < kernels.kernel_count(); ++i)
        if (kernels.kernel_name(i) == name) return true;
    return false;
}

class Find : public OnFake {};

TEST_F(Find, AnAbleDeviceOffersTheWholeCatalogue) {
    const auto context = open_context();
    const auto kernels = open_kernels(*context);
    ASSERT_EQ(kernels->kernel_count(), device::catalogue().size());
    for (const device::Kernel &kernel : device::catalogue()) {
        EXPECT_TRUE(lists(*kernels, kernel.name)) << kernel.name;
        const hbf_kernel_info info = find(*kernels, kernel.name);
        EXPECT_NE(info.kernel, 0u);
        EXPECT_EQ(std::string_view(info.name), kernel.name);
        EXPECT_EQ(std::string_view(info.origin), "built at run time");
        EXPECT_EQ(info.buffer_count, kernel.buffer_count);
        EXPECT_EQ(info.arguments_size, kernel.arguments_size);
        EXPECT_EQ(info.max_group_size, 256u);
        EXPECT_EQ(info.concurrent_groups, 2u);
    }
    EXPECT_EQ(logged(), "");
}

TEST_F(Find, AKernelIsBuiltOnceAndKeepsItsId) {
    const auto context = open_context();
    const auto kernels = open_kernels(*context);
    EXPECT_EQ(builds(), "") << "opening a device builds nothing";
    const uint64_t id = find(*kernels, "copy/1").kernel;
    EXPECT_EQ(find(*kernels, "copy/1").kernel, id);
    EXPECT_NE(find(*kernels, "pattern_fill/1").kernel, id);
    EXPECT_EQ(builds(), "begun\nsource copy\nbegun\nsource pattern_fill\n");
}

TEST_F(Find, AnUnknownNameIsUnsupported) {
    const auto context = open_context();
    const auto kernels = open_kernels(*context);
    for (const char *name : {"copy/2", "copy", "", "nothing/1"}) {
        const sdk::Failure failure = refusal([&] { find(*kernels, name); });
        EXPECT_EQ(failure.status, HBF_UNSUPPORTED) << name;
        EXPECT_NE(failure.message.find(name), std::string::npos) << failure.message;
    }
}

TEST_F(Find, ADeviceWithoutEnoughLocalMemoryDoesNotOfferTheKernel) {
    behave("local=4096");
    const auto context = open_context();
    const auto kernels = open_kernels(*context);
    EXPECT_FALSE(lists(*kernels, "pattern_verify/1"));
    EXPECT_TRUE(lists(*kernels, "copy/1"));
    const sdk::Failure failure = refusal([&] { find(*kernels, "pattern_verify/1"); });
    EXPECT_EQ(failure.status, HBF_UNSUPPORTED);
    EXPECT_NE(failure.message.find("bytes of local memory, of which the device has 4096"), std::string::npos)
        << failure.message;
    EXPECT_EQ(builds(), "");
}

// Each need, on a device that has all but this one, and on one that has it.
TEST_F(Find, EveryNeedIsAskedOfTheDevice) {
    struct {
        uint32_t needs;
        const char *lacking, *named;
    } const cases[] = {
        {device::needs_c11_atomics, "c11=0", "C11 atomics"},
        {device::needs_c11_atomics, "version=OpenCL 1.2 fake", "C11 atomics"},
        {device::needs_int64_atomics, "extensions=cl_khr_fp16 cl_khr_fp64 cl_khr_int64_base_atomics_of_another",
         "64-bit atomics"},
        {device::needs_fp16, "extensions=cl_khr_int64_base_atomics cl_khr_fp64", "fp16"},
        {device::needs_fp64, "extensions=cl_khr_int64_base_atomics cl_khr_fp16", "fp64"},
        {device::needs_nothing, "compiler=0", "compiler"},
        {device::needs_nothing, "little=0", "little-endian"},
        {device::needs_nothing, "profile=EMBEDDED_PROFILE", "64-bit integers"},
    };
    const Ability able = read_ability(library(), first_device().device);
    for (const auto &one : cases) {
        device::Kernel kernel = device::catalogue()[0];
        kernel.needs = one.needs;
        EXPECT_EQ(missing(able, kernel), "");
        behave(one.lacking);
        const Ability lacking = read_ability(library(), first_device().device);
        EXPECT_NE(missing(lacking, kernel).find(one.named), std::string::npos) << missing(lacking, kernel);
        kernel.needs = device::needs_nothing;
        EXPECT_EQ(missing(lacking, kernel).empty(), one.needs != device::needs_nothing) << "who does not need it has it not";
        behave("");
    }
}

TEST_F(Find, TheLanguageIsTheOneTheKernelNeeds) {
    device::Kernel kernel = device::catalogue()[0];
    const auto options = [&] { return build_options(read_ability(library(), first_device().device), kernel); };
    kernel.needs = device::needs_nothing;
    EXPECT_EQ(options(), "-cl-std=CL1.2");
    kernel.needs = device::needs_c11_atomics;
    EXPECT_EQ(options(), "-cl-std=CL3.0");
    behave("version=OpenCL 2.1 fake");
    EXPECT_EQ(options(), "-cl-std=CL2.0") << "in 2.x they are no features";
}

TEST_F(Find, ABuildThatFailsTellsTheCompilersWords) {
    const auto context = open_context();
    const auto kernels = open_kernels(*context);
    behave("build=fail");
    const sdk::Failure failure = refusal([&] { find(*kernels, "copy/1"); });
    EXPECT_EQ(failure.status, HBF_UNAVAILABLE);
    EXPECT_NE(failure.message.find("kernel copy/1 does not build on Fake device 0"), std::string::npos) << failure.message;
    EXPECT_NE(failure.message.find("fake.cl:7:3: error: use of undeclared identifier 'nothing'"), std::string::npos)
        << failure.message;
    for (const char *line : {"CL_BUILD_PROGRAM_FAILURE", "-cl-std=CL1.2", "this is said first",
                             "use of undeclared identifier", "and this last"})
        EXPECT_NE(logged().find(line), std::string::npos) << line << " is not in:\n" << logged();
    EXPECT_TRUE(cached().empty());
    EXPECT_EQ(kernels->known(1), nullptr);
    behave(""); // a full disk, say, has been emptied
    EXPECT_NE(find(*kernels, "copy/1").kernel, 0u);
}

TEST_F(Find, ADeviceThatGoesWhileItBuildsIsLost) {
    const auto context = open_context();
    const auto kernels = open_kernels(*context);
    behave("build=lost");
    EXPECT_EQ(refusal([&] { find(*kernels, "copy/1"); }).status, HBF_DEVICE_LOST);
    for (const char *function : {"clCreateProgramWithSource", "clCreateKernel"}) {
        behave(std::string("fail=") + function + ":-2");
        const sdk::Failure failure = refusal([&] { find(*kernels, "copy/1"); });
        EXPECT_EQ(failure.status, HBF_DEVICE_LOST) << function;
        EXPECT_NE(failure.message.find("CL_DEVICE_NOT_AVAILABLE (-2)"), std::string::npos) << failure.message;
    }
}

} // namespace
} // namespace hbf::opencl
