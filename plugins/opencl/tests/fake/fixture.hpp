// SPDX-License-Identifier: Apache-2.0
// A device of the fake runtime (fake.hpp) with a cache folder of its own, and what was logged.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "core/loader/hostile/scene.hpp"
#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/log.hpp"
#include "plugins/opencl/context.hpp"
#include "plugins/opencl/discovery.hpp"
#include "plugins/opencl/errors.hpp"
#include "plugins/opencl/kernels/testing.hpp"

extern "C" {
int64_t hbf_fake_opencl_alive(void);                                // objects that nobody has released
void hbf_fake_opencl_meter(uint64_t (*allocations)(void) noexcept); // counts this thread's; the next tells those in there
uint64_t hbf_fake_opencl_own(void);
}

namespace hbf::opencl {

class OnFake : public ::testing::Test {
protected:
    OnFake() {
        behave("");
        setenv("XDG_CACHE_HOME", (scene.top() / "cache").c_str(), 1);
        services.struct_size = sizeof services;
        services.context = this;
        services.log = [](void *self, hbf_log_level, hbf_string message) noexcept {
            auto &test = *static_cast<OnFake *>(self);
            std::lock_guard lock(test.mutex_);
            test.logged_.emplace_back(message.data, message.size);
        };
    }
    ~OnFake() override {
        EXPECT_EQ(hbf_fake_opencl_alive(), before_) << "an object was not released";
        unsetenv("HBF_FAKE_OPENCL");
        unsetenv("XDG_CACHE_HOME");
    }

    // As HBF_FAKE_OPENCL; what builds it traces is in `trace`.
    void behave(const std::string &settings) {
        setenv("HBF_FAKE_OPENCL", (settings + ";trace=" + trace.string()).c_str(), 1);
    }

    static OpenedDevice first_device() {
        OpenedDevice out{};
        EXPECT_EQ(library().GetPlatformIDs(1, &out.platform, nullptr), CL_SUCCESS);
        EXPECT_EQ(library().GetDeviceIDs(out.platform, CL_DEVICE_TYPE_ALL, 1, &out.device, nullptr), CL_SUCCESS);
        char name[64] = {};
        EXPECT_EQ(library().GetPlatformInfo(out.platform, CL_PLATFORM_NAME, sizeof name, name, nullptr), CL_SUCCESS);
        EXPECT_EQ(std::string_view(name), "Fake platform 0") << "not the library this test is linked with";
        return out;
    }
    static std::unique_ptr<Context> open_context() {
        const OpenedDevice device = first_device();
        return std::make_unique<Context>(library(), device.platform, device.device);
    }
    std::unique_ptr<DeviceKernels> open_kernels(const Context &context) {
        return std::make_unique<DeviceKernels>(context.cl, context.context.get(), context.device, log());
    }
    sdk::Log log() const { return sdk::Log(&services); }

    static hbf_kernel_info find(DeviceKernels &kernels, std::string_view name) {
        hbf_kernel_info info{};
        kernels.find(name, info);
        return info;
    }
    // Why it was refused; HBF_OK if it was not.
    template <class Call>
    static sdk::Failure refusal(const Call &call) {
        try {
            call();
        } catch (const sdk::Failure &failure) {
            return failure;
        }
        return {HBF_OK, "it was not refused"};
    }

    std::string logged() const { // all of it, a line each
        std::lock_guard lock(mutex_);
        std::string all;
        for (const std::string &line : logged_) all += line + "\n";
        return all;
    }
    size_t log_lines() const {
        std::lock_guard lock(mutex_);
        return logged_.size();
    }
    void forget_log() {
        std::lock_guard lock(mutex_);
        logged_.clear();
    }
    std::string builds() const { return std::filesystem::exists(trace) ? hostile::read_bytes(trace) : ""; }
    void forget_builds() const { std::filesystem::remove(trace); }
    std::filesystem::path cache_folder() const { return scene.top() / "cache/hbf/opencl"; }
    std::vector<std::filesystem::path> cached() const {
        std::vector<std::filesystem::path> files;
        if (std::filesystem::exists(cache_folder()))
            for (const auto &entry : std::filesystem::directory_iterator(cache_folder())) files.push_back(entry.path());
        return files;
    }

    hostile::Scene scene;
    const std::filesystem::path trace = scene.top() / "trace";
    hbf_host_services services{};

private:
    mutable std::mutex mutex_;
    std::vector<std::string> logged_;
    const int64_t before_ = hbf_fake_opencl_alive();
};

} // namespace hbf::opencl
