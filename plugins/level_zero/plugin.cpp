// SPDX-License-Identifier: Apache-2.0
// GPUs with a Level Zero driver as HBF devices: docs/level_zero.md.
#include <algorithm>

#include <fmt/format.h>

#include "hbf/sdk/entry.hpp"
#include "plugins/level_zero/discovery.hpp"
#include "plugins/level_zero/host_bytes.hpp"
#include "plugins/level_zero/instance.hpp"

namespace hbf::level_zero {

struct LevelZeroPlugin final : sdk::Plugin {
    static constexpr sdk::Facts facts{.name = "level_zero",
                                      .vendor = "Triple-H",
                                      .version = HBF_PLUGIN_VERSION,
                                      .description = "Intel GPUs, through the Level Zero loader of this machine"};

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
            sdk::fail(HBF_UNAVAILABLE, fmt::format("no Level Zero device \"{}\": there are {}", args.device_id, ids));
        }
        const Functions &ze = library();
        const Opened opened = open_device(ze, *found, all, args.system_root);
        return std::make_unique<ZeInstance>(ze, opened, options, host_bytes(args.system_root), found->info.numa_node,
                                            args.log);
    }
};

} // namespace hbf::level_zero

HBF_PLUGIN(hbf::level_zero::LevelZeroPlugin);
