// SPDX-License-Identifier: Apache-2.0
// OpenCL devices as HBF devices: docs/opencl.md.
#include <algorithm>

#include <fmt/format.h>

#include "hbf/sdk/entry.hpp"
#include "plugins/opencl/discovery.hpp"
#include "plugins/opencl/instance.hpp"
#include "plugins/opencl/options.hpp"
#include "plugins/opencl/process_kept.hpp"

namespace hbf::opencl {

struct OpenClPlugin final : sdk::Plugin {
    static constexpr sdk::Facts facts{.name = "opencl",
                                      .vendor = "Triple-H",
                                      .version = HBF_PLUGIN_VERSION,
                                      .description = "any OpenCL 1.2 device, through the OpenCL loader of this machine"};

    std::vector<hbf_device_info> probe(const sdk::ProbeArgs &args) override {
        on_this_machine(args.system_root);
        const Survey all = survey();
        for (const std::string &trouble : all.troubles) args.log.warning(trouble);
        std::vector<hbf_device_info> devices;
        for (const Found &found : select(all, args.options)) devices.push_back(found.info);
        return devices;
    }

    std::unique_ptr<sdk::Instance> create(const sdk::CreateArgs &args) override {
        const OpenClOptions options = parse_options(args.options);
        on_this_machine(args.system_root);
        const Survey all = survey();
        const ProcessKept process;
        const auto found = std::find_if(all.devices.begin(), all.devices.end(),
                                        [&](const Found &one) { return args.device_id == one.info.id; });
        if (found == all.devices.end()) {
            std::string ids;
            for (const Found &one : all.devices) ids += fmt::format("{}\"{}\"", ids.empty() ? "" : ", ", one.info.id);
            sdk::fail(HBF_UNAVAILABLE, fmt::format("no OpenCL device \"{}\": there are {}", args.device_id, ids));
        }
        return std::make_unique<OpenClInstance>(open_device(library(), *found, all), options, args.log);
    }

private:
    // The loader asks this machine's drivers, wherever a test's machine lies.
    static void on_this_machine(const std::string &root) {
        if (!root.empty() && root != "/")
            sdk::fail(HBF_UNAVAILABLE,
                      fmt::format("no_device: the system root {} is not this machine's, whose drivers OpenCL asks", root));
    }
};

} // namespace hbf::opencl

HBF_PLUGIN(hbf::opencl::OpenClPlugin);
