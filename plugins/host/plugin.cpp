// SPDX-License-Identifier: Apache-2.0
// The host plugin: this machine's memory and storage as one HBF device.
#include "hbf/sdk/plugin.hpp"

#include <fmt/format.h>

#include "hbf/sdk/entry.hpp"
#include "instance.hpp"
#include "machine.hpp"
#include "text.hpp"

namespace hbf::host {

constexpr const char *device_id = "host0";

struct HostPlugin final : sdk::Plugin {
    static constexpr sdk::Facts facts{.name = "host",
                                      .vendor = "Triple-H",
                                      .version = HBF_PLUGIN_VERSION,
                                      .description = "memory and storage of this machine, copied by its CPUs"};

    std::vector<hbf_device_info> probe(const sdk::ProbeArgs &args) override {
        const std::string root = args.system_root.empty() ? "/" : args.system_root;
        hbf_device_info device{};
        device.struct_size = sizeof device;
        device.reality = HBF_REALITY_REAL;
        device.numa_node = -1; // all of them
        put_text(device.id, device_id);
        put_text(device.name, cpu_model(root));
        put_text(device.driver, kernel_release(root));
        return {device};
    }

    std::unique_ptr<sdk::Instance> create(const sdk::CreateArgs &args) override {
        if (args.device_id != device_id)
            sdk::fail(HBF_UNAVAILABLE, fmt::format("no device \"{}\": the host is \"{}\"", args.device_id, device_id));
        return std::make_unique<HostInstance>(parse_options(args.options, args.system_root), args.log);
    }
};

} // namespace hbf::host

HBF_PLUGIN(hbf::host::HostPlugin);
