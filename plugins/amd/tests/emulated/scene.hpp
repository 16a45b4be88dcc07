// SPDX-License-Identifier: Apache-2.0
// The plugin's parts over an emulated HIP runtime, which the dynamic linker finds by LD_LIBRARY_PATH.
#pragma once

#include <memory>
#include <string>

#include <fmt/format.h>

#include "plugins/amd/discovery.hpp"
#include "plugins/amd/instance.hpp"
#include "plugins/stream/tests/seen.hpp"

namespace hbf::amd {

using stream::Logged;
using stream::Seen;
using stream::seen;

inline std::unique_ptr<AmdInstance> open_first(const AmdOptions &options, const sdk::Log &log,
                                               const std::string &root = "") {
    const Survey all = survey(root);
    const Found &first = all.devices.front();
    return std::make_unique<AmdInstance>(open_device(first, all), first, all, options, root, log);
}

// What is small enough for every machine that runs tests.
inline AmdOptions small() {
    AmdOptions options;
    options.hbm_bytes = options.host_bytes = 64 << 20;
    return options;
}

inline hbf_region_info alloc(AmdInstance &device, uint32_t tier, uint64_t size) {
    sdk::AllocRequest request;
    request.tier = tier;
    request.size = size;
    return device.alloc(request);
}

inline hbf_command copy_of(hbf_region dst, uint64_t dst_at, hbf_region src, uint64_t src_at, uint64_t size) {
    hbf_command command{};
    command.kind = HBF_COMMAND_COPY;
    command.u.copy = {dst, dst_at, src, src_at, size, nullptr};
    return command;
}

inline uint64_t submit(sdk::Queue &queue, const std::vector<hbf_command> &commands) {
    hbf_batch batch{};
    batch.struct_size = sizeof batch;
    batch.command_stride = sizeof(hbf_command);
    batch.commands = commands.data();
    batch.command_count = commands.size();
    return queue.submit(sdk::BatchView(batch));
}

inline std::string tier_names(AmdInstance &instance) {
    std::string out;
    for (uint32_t i = 0; i < instance.tier_count(); ++i) {
        hbf_tier_info info{};
        instance.describe_tier(i, info);
        out += fmt::format("{}{}", out.empty() ? "" : " ", info.name);
    }
    return out;
}

} // namespace hbf::amd
