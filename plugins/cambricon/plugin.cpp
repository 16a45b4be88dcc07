// SPDX-License-Identifier: Apache-2.0
// Cambricon MLUs as HBF devices: docs/cambricon.md.
#include <algorithm>

#include <fmt/format.h>

#include "hbf/sdk/entry.hpp"
#include "plugins/cambricon/discovery.hpp"
#include "plugins/cambricon/instance.hpp"
#include "plugins/cambricon/options.hpp"

namespace hbf::cambricon {

struct CambriconPlugin final : sdk::Plugin {
    static constexpr sdk::Facts facts{.name = "cambricon",
                                      .vendor = "Triple-H",
                                      .version = HBF_PLUGIN_VERSION,
                                      .description = "Cambricon MLUs, through CNRT 6 of this machine"};

    std::vector<hbf_device_info> probe(const sdk::ProbeArgs &args) override {
        Look found = look(args.system_root);
        for (const std::string &trouble : found.troubles) args.log.warning(trouble);
        return std::move(found.devices);
    }

    std::unique_ptr<sdk::Instance> create(const sdk::CreateArgs &args) override {
        const CambriconOptions options = parse_options(args.options);
        const Survey all = survey(args.system_root);
        const auto found = std::find_if(all.devices.begin(), all.devices.end(), [&](const Found &one) {
            return args.device_id.empty() || args.device_id == one.info.id;
        });
        if (found == all.devices.end()) {
            std::string ids;
            for (const Found &one : all.devices) ids += fmt::format("{}\"{}\"", ids.empty() ? "" : ", ", one.info.id);
            sdk::fail(HBF_UNAVAILABLE, fmt::format("no Cambricon device \"{}\": there are {}", args.device_id, ids));
        }
        return std::make_unique<CambriconInstance>(library(), found->facts, options, args.log);
    }
};

} // namespace hbf::cambricon

HBF_PLUGIN(hbf::cambricon::CambriconPlugin);
