// SPDX-License-Identifier: Apache-2.0
// The emulated libraries as a program meets them: opened by name, in a process of its own for each machine.
#pragma once

#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/emulators/amd/hip/functions.hpp"
#include "conformance/emulators/amd/smi/smi.hpp"

namespace hbf::emulated::test {

// The functions of a library by name; those that it does not export are null.
struct Hip {
    explicit Hip(const char *file) : handle(::dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
        EXPECT_NE(handle, nullptr) << ::dlerror();
        if (!handle) return;
#define F(release, name, parameters) name = reinterpret_cast<decltype(name)>(::dlsym(handle, #name));
#define R(release, name, parameters) F(release, name, parameters)
#define S(release, name, result, parameters) F(release, name, parameters)
#include "conformance/emulators/amd/hip/functions.inc"
#include "conformance/emulators/amd/hip/rtc_functions.inc"
#undef F
#undef R
#undef S
    }
    void *handle;
#define F(release, name, parameters) decltype(&hip::name) name = nullptr;
#define R(release, name, parameters) F(release, name, parameters)
#define S(release, name, result, parameters) F(release, name, parameters)
#include "conformance/emulators/amd/hip/functions.inc"
#include "conformance/emulators/amd/hip/rtc_functions.inc"
#undef F
#undef R
#undef S
};

struct Smi {
    explicit Smi(const char *file) : handle(::dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
        EXPECT_NE(handle, nullptr) << ::dlerror();
        if (!handle) return;
#define F(release, name, parameters) name = reinterpret_cast<decltype(name)>(::dlsym(handle, #name));
#include "conformance/emulators/amd/smi/functions.inc"
#undef F
    }
    void *handle;
#define F(release, name, parameters) decltype(&smi::name) name = nullptr;
#include "conformance/emulators/amd/smi/functions.inc"
#undef F
};

using Settings = std::vector<std::pair<std::string, std::string>>;

// Runs `body` in a child that has such an environment; its exit status: 0 if no expectation failed.
inline int in_process(const Settings &settings, const std::function<void()> &body) {
    const pid_t child = ::fork();
    if (child == 0) {
        for (const char *const name : {"HBF_EMULATE_FAULTS", "HBF_EMULATE_COUNTS", "HIP_VISIBLE_DEVICES",
                                       "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"})
            ::unsetenv(name);
        ::setenv("HBF_EMULATE_PROFILE", HBF_EMULATED_MACHINE, 1);
        for (const auto &[name, value] : settings) ::setenv(name.c_str(), value.c_str(), 1);
        body();
        std::exit(testing::Test::HasFailure() ? 1 : 0); // as a program ends: counters are told then
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

inline Settings faults(const std::string &text) {
    return {{"HBF_EMULATE_FAULTS", text}};
}

// Each test with a library runs with ROCm 6's and with ROCm 5's.
struct Files {
    const char *hip, *smi;
    int major;
};
inline constexpr Files rocm6{HBF_EMULATED_HIP6, HBF_EMULATED_SMI7, 6}, rocm5{HBF_EMULATED_HIP5, HBF_EMULATED_SMI1, 5};

inline void PrintTo(const Files &files, std::ostream *out) {
    *out << files.hip;
}
inline std::string release_name(const testing::TestParamInfo<Files> &files) {
    return "rocm" + std::to_string(files.param.major);
}

class OnBoth : public testing::TestWithParam<Files> {
protected:
    static void run(const Settings &settings, const std::function<void(const Hip &)> &body) {
        const int status = in_process(settings, [&] { body(Hip(GetParam().hip)); });
        EXPECT_EQ(status, 0);
    }
};

} // namespace hbf::emulated::test
