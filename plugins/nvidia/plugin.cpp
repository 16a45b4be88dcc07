// SPDX-License-Identifier: Apache-2.0
// NVIDIA's devices as HBF devices: docs/nvidia.md.
#include <algorithm>

#include <fmt/format.h>

#include "hbf/sdk/entry.hpp"
#include "plugins/nvidia/discovery.hpp"
#include "plugins/nvidia/instance.hpp"
#include "plugins/nvidia/memory/host_bytes.hpp"

namespace hbf::nvidia {

struct NvidiaPlugin final : sdk::Plugin {
    static constexpr sdk::Facts facts{.name = "nvidia",
                                      .vendor = "Triple-H",
                                      .version = HBF_PLUGIN_VERSION,
                                      .description = "NVIDIA GPUs, through the CUDA driver of release 525 or newer"};

    std::vector<hbf_device_info> probe(const sdk::ProbeArgs &args) override {
        const Survey all = survey(args.system_root);
        for (const std::string &trouble : all.troubles) args.log.warning(trouble);
        const auto wanted = args.options.find("device");
        std::vector<hbf_device_info> devices;
        for (const Found &found : select(all, wanted == args.options.end() ? "" : wanted->second))
            devices.push_back(found.info);
        return devices;
    }

    std::unique_ptr<sdk::Instance> create(const sdk::CreateArgs &args) override {
        const Options options = parse_options(args.options);
        const Survey all = survey(args.system_root);
        const auto found = std::find_if(all.devices.begin(), all.devices.end(),
                                        [&](const Found &one) { return args.device_id == one.info.id; });
        if (found == all.devices.end()) {
            std::string ids;
            for (const Found &one : all.devices) ids += fmt::format("{}\"{}\"", ids.empty() ? "" : ", ", one.info.id);
            sdk::fail(HBF_UNAVAILABLE, fmt::format("no NVIDIA device \"{}\": there are {}", args.device_id, ids));
        }
        const Driver &cuda = driver();
        if (const cuda::Result code = cuda.Init(0); code != cuda::success) throw init_failure(cuda, code, args.system_root);
        keep(all);
        const DeviceFacts device = read_facts(cuda, found->ordinal);
        if (device.uuid != found->uuid)
            sdk::fail(HBF_UNAVAILABLE, fmt::format("NVIDIA device \"{}\" is not there any more: number {} is {} now",
                                                   args.device_id, found->ordinal, device.name));
        return std::make_unique<NvidiaInstance>(cuda, device, options, found->info.numa_node, host_bytes(args.system_root),
                                                args.log);
    }
};

} // namespace hbf::nvidia

HBF_PLUGIN(hbf::nvidia::NvidiaPlugin);
