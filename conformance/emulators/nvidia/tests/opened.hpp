// SPDX-License-Identifier: Apache-2.0
// The plugin's device over the emulated driver, opened in the test's process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/emulators/nvidia/tests/machine.hpp"
#include "plugins/nvidia/discovery.hpp"
#include "plugins/nvidia/errors.hpp"
#include "plugins/nvidia/instance.hpp"

namespace hbf::nvidia {

constexpr uint64_t mebibyte = 1 << 20;

template <class Call>
sdk::Failure refusal(const Call &call) {
    try {
        call();
    } catch (const sdk::Failure &failure) {
        return failure;
    }
    return {HBF_OK, "it was not refused"};
}

inline Options alone() {
    Options options;
    options.peers = Choice::off;
    return options;
}

class Opened {
public:
    explicit Opened(const Options &options = alone()) {
        services.struct_size = sizeof services;
        services.context = this;
        services.log = [](void *self, hbf_log_level, hbf_string message) noexcept {
            static_cast<Opened *>(self)->logged += std::string(message.data, message.size) + "\n";
        };
        const Survey all = survey("");
        const Driver &cuda = driver();
        check(cuda, cuda.Init(0), "cuInit");
        instance = std::make_unique<NvidiaInstance>(cuda, read_facts(cuda, all.devices.at(0).ordinal), options, -1,
                                                    uint64_t{1} << 30, sdk::Log(&services));
    }
    hbf_region_info allocate(uint32_t tier, uint64_t size) const {
        sdk::AllocRequest request;
        request.tier = tier, request.size = size;
        return instance->alloc(request);
    }
    hbf_tier_info tier(uint32_t index) const {
        hbf_tier_info info{};
        instance->describe_tier(index, info);
        return info;
    }
    static uint64_t submit(sdk::Queue &queue, const std::vector<hbf_command> &commands) {
        const hbf_batch batch{sizeof batch, sizeof(hbf_command), commands.data(), commands.size()};
        return queue.submit(sdk::BatchView(batch));
    }
    static hbf_command copy(hbf_region dst, hbf_region src, uint64_t size, uint64_t at = 0) {
        hbf_command command{};
        command.kind = HBF_COMMAND_COPY;
        command.u.copy = {dst, at, src, at, size, nullptr};
        return command;
    }
    std::string logged;
    hbf_host_services services{};
    std::unique_ptr<NvidiaInstance> instance;
};

} // namespace hbf::nvidia
