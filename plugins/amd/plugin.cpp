// SPDX-License-Identifier: Apache-2.0
// AMD's GPUs as HBF devices, through HIP: docs/amd.md.
#include <algorithm>

#include <fmt/format.h>

#include "hbf/sdk/entry.hpp"
#include "plugins/amd/discovery.hpp"
#include "plugins/amd/instance.hpp"
#include "plugins/amd/options.hpp"
#include "plugins/opencl/process_kept.hpp"

namespace hbf::amd {

struct AmdPlugin final : sdk::Plugin {
    static constexpr sdk::Facts facts{.name = "amd",
                                      .vendor = "Triple-H",
                                      .version = HBF_PLUGIN_VERSION,
                                      .description = "AMD GPUs through the HIP runtime of this machine, 5.2 or newer"};

    std::vector<hbf_device_info> probe(const sdk::ProbeArgs &args) override {
        const Survey all = survey(args.system_root);
        for (const std::string &trouble : all.troubles) args.log.warning(trouble);
        const auto device = args.options.find("device"); // others are create's to judge
        std::vector<hbf_device_info> devices;
        for (const Found &found : select(all, device == args.options.end() ? "" : device->second))
            devices.push_back(found.info);
        return devices;
    }

    std::unique_ptr<sdk::Instance> create(const sdk::CreateArgs &args) override {
        const AmdOptions options = parse_options(args.options);
        const Survey all = survey(args.system_root);
        const opencl::ProcessKept process; // what the runtime sets while it starts
        const auto found = std::find_if(all.devices.begin(), all.devices.end(),
                                        [&](const Found &one) { return args.device_id == one.info.id; });
        if (found == all.devices.end()) {
            std::string ids;
            for (const Found &one : all.devices) ids += fmt::format("{}\"{}\"", ids.empty() ? "" : ", ", one.info.id);
            sdk::fail(HBF_UNAVAILABLE, fmt::format("no HIP device \"{}\": there are {}", args.device_id, ids));
        }
        return std::make_unique<AmdInstance>(open_device(*found, all), *found, all, options, args.system_root, args.log);
    }
};

} // namespace hbf::amd

HBF_PLUGIN(hbf::amd::AmdPlugin);
