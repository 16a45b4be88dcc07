// SPDX-License-Identifier: Apache-2.0
// Platforms of every sort, as tables of functions: what is found, and what is said of those that are no good.
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "plugins/opencl/asker.hpp"

namespace hbf::opencl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

enum class Sort { good, cpu, empty, crashes, hangs, exits, old, unavailable, refuses };
struct FakePlatform {
    std::string name;
    Sort sort;
    unsigned devices = 1;
};
std::vector<FakePlatform> machine; // platform i is i + 1, device j of it (i + 1) * 100 + j

template <class Handle>
uintptr_t number(Handle handle) {
    return reinterpret_cast<uintptr_t>(handle);
}

cl_int give(const void *from, size_t size, size_t room, void *to, size_t *needed) {
    if (needed) *needed = size;
    if (!to) return CL_SUCCESS;
    if (room < size) return CL_INVALID_VALUE;
    std::memcpy(to, from, size);
    return CL_SUCCESS;
}
cl_int give(const std::string &text, size_t room, void *to, size_t *needed) {
    return give(text.c_str(), text.size() + 1, room, to, needed);
}

cl_int CL_API_CALL platforms(cl_uint room, cl_platform_id *out, cl_uint *count) {
    if (count) *count = static_cast<cl_uint>(machine.size());
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a handle, which points to nothing
    for (cl_uint i = 0; out && i < room; ++i) out[i] = reinterpret_cast<cl_platform_id>(uintptr_t{i} + 1);
    return machine.empty() ? CL_PLATFORM_NOT_FOUND_KHR : CL_SUCCESS;
}
cl_int CL_API_CALL platform_info(cl_platform_id platform, cl_platform_info what, size_t room, void *to, size_t *needed) {
    return give(what == CL_PLATFORM_NAME ? machine.at(number(platform) - 1).name : "x", room, to, needed);
}
cl_int CL_API_CALL devices(cl_platform_id platform, cl_device_type, cl_uint room, cl_device_id *out, cl_uint *count) {
    const FakePlatform &fake = machine.at(number(platform) - 1);
    switch (fake.sort) {
    case Sort::empty:
        return CL_DEVICE_NOT_FOUND;
    case Sort::crashes:
        std::raise(SIGABRT); // a sanitizer keeps SIGSEGV to itself
        break;
    case Sort::hangs:
        for (;;) ::pause();
    case Sort::exits:
        ::_exit(3);
    case Sort::refuses:
        return CL_OUT_OF_RESOURCES;
    default:
        break;
    }
    if (count) *count = fake.devices;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): as above
    for (cl_uint i = 0; out && i < room; ++i) out[i] = reinterpret_cast<cl_device_id>(number(platform) * 100 + i);
    return CL_SUCCESS;
}
template <class T>
cl_int give_number(T value, size_t room, void *to, size_t *needed) {
    return give(&value, sizeof value, room, to, needed);
}
cl_int CL_API_CALL device_info(cl_device_id device, cl_device_info what, size_t room, void *to, size_t *needed) {
    const Sort sort = machine.at(number(device) / 100 - 1).sort;
    switch (what) {
    case CL_DEVICE_NAME:
        return give("card " + std::to_string(number(device) % 100), room, to, needed);
    case CL_DEVICE_VERSION:
        return give(sort == Sort::old ? "OpenCL 1.1 old" : "OpenCL 1.2 new", room, to, needed);
    case CL_DEVICE_TYPE:
        return give_number<cl_device_type>(sort == Sort::cpu ? CL_DEVICE_TYPE_CPU : CL_DEVICE_TYPE_GPU, room, to, needed);
    case CL_DEVICE_AVAILABLE:
        return give_number<cl_bool>(sort != Sort::unavailable, room, to, needed);
    case CL_DEVICE_GLOBAL_MEM_SIZE:
    case CL_DEVICE_MAX_MEM_ALLOC_SIZE:
    case CL_DEVICE_LOCAL_MEM_SIZE:
        return give_number<cl_ulong>(1 << 30, room, to, needed);
    case CL_DEVICE_VENDOR:
    case CL_DRIVER_VERSION:
    case CL_DEVICE_EXTENSIONS:
        return give("x", room, to, needed);
    default:
        return give_number<cl_uint>(64, room, to, needed);
    }
}

Functions table() {
    Functions cl;
    cl.GetPlatformIDs = platforms;
    cl.GetPlatformInfo = platform_info;
    cl.GetDeviceIDs = devices;
    cl.GetDeviceInfo = device_info;
    return cl;
}

// Long for what answers, short for what hangs: only that is waited for.
constexpr AskLimits limits{std::chrono::milliseconds(2000), std::chrono::milliseconds(8000)};

Survey ask(std::vector<FakePlatform> platforms) {
    machine = std::move(platforms);
    return ask_in_child(table(), limits);
}

std::vector<std::string> ids(const Survey &survey) {
    std::vector<std::string> out;
    for (const Found &found : survey.devices) out.emplace_back(found.info.id);
    return out;
}

unsigned children() {
    unsigned count = 0;
    for (const auto &task : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream list(task.path() / "children");
        for (std::string pid; list >> pid;) ++count;
    }
    return count;
}

TEST(Asker, FindsEveryDeviceAndSaysWhatACpuIs) {
    const Survey found = ask({{"Acme GPU!", Sort::good, 2}, {"Some CPU", Sort::cpu}});
    EXPECT_THAT(ids(found), ElementsAre("acme-gpu-0", "acme-gpu-1", "some-cpu-0"));
    EXPECT_TRUE(found.troubles.empty());
    EXPECT_EQ(found.devices[0].info.flags, 0u);
    EXPECT_EQ(found.devices[2].info.flags, HBF_DEVICE_ON_CPU);
    EXPECT_THAT(found.devices[2].info.name, HasSubstr("this machine's CPUs"));
    EXPECT_EQ(found.devices[1].device, 1u);
    EXPECT_EQ(found.devices[2].platform, 1u);
    EXPECT_EQ(children(), 0u);
}

TEST(Asker, APlatformThatCrashesHangsOrExitsTakesNoOtherOut) {
    const Survey found = ask({{"A", Sort::good},
                              {"Broken", Sort::crashes},
                              {"B", Sort::good},
                              {"Stuck", Sort::hangs},
                              {"Gone", Sort::exits},
                              {"C", Sort::cpu}});
    EXPECT_THAT(ids(found), ElementsAre("a-0", "b-0", "c-0"));
    EXPECT_THAT(found.troubles, ElementsAre(HasSubstr("\"Broken\" crashed (ended by SIGABRT)"),
                                            HasSubstr("\"Stuck\" did not answer in time"),
                                            HasSubstr("\"Gone\" crashed (exited with status 3)")));
    EXPECT_EQ(children(), 0u);
}

TEST(Asker, DevicesThatCannotServeAreSaid) {
    const Survey found =
        ask({{"None", Sort::empty}, {"Old", Sort::old}, {"Taken", Sort::unavailable}, {"Cross", Sort::refuses}});
    EXPECT_TRUE(found.devices.empty());
    EXPECT_THAT(found.troubles,
                ElementsAre(HasSubstr("\"None\" has no device"), HasSubstr("OpenCL 1.1 old, 1.2 is the least"),
                            HasSubstr("not available"), HasSubstr("CL_OUT_OF_RESOURCES")));
}

TEST(Asker, NoPlatformIsNoTrouble) {
    const Survey found = ask({});
    EXPECT_TRUE(found.devices.empty());
    EXPECT_TRUE(found.troubles.empty());
}

TEST(Asker, ALoaderThatCrashesIsAnError) {
    machine.clear();
    Functions cl = table();
    cl.GetPlatformIDs = [](cl_uint, cl_platform_id *, cl_uint *) -> cl_int {
        std::raise(SIGILL);
        return 0;
    };
    try {
        (void)ask_in_child(cl, limits);
        FAIL() << "it did not answer, and that is no error";
    } catch (const sdk::Failure &failure) {
        EXPECT_EQ(failure.status, HBF_INTERNAL);
        EXPECT_THAT(failure.message, HasSubstr("ended by SIGILL"));
    }
    EXPECT_EQ(children(), 0u);
}

TEST(Asker, WorksWhileTheHostCollectsItsChildrenItself) {
    struct sigaction ignore{};
    struct sigaction before{};
    ignore.sa_handler = SIG_IGN;
    ASSERT_EQ(sigaction(SIGCHLD, &ignore, &before), 0);
    const Survey found = ask({{"A", Sort::good}, {"Broken", Sort::crashes}});
    ASSERT_EQ(sigaction(SIGCHLD, &before, nullptr), 0);
    EXPECT_THAT(ids(found), ElementsAre("a-0"));
    EXPECT_THAT(found.troubles, ElementsAre(HasSubstr("\"Broken\" crashed")));
}

} // namespace
} // namespace hbf::opencl
