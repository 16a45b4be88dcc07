// SPDX-License-Identifier: Apache-2.0
// The simulated device as a plugin: for the conformance suite's own proof, and for trying a host without hardware.
#include "conformance/sim/instance.hpp"
#include "hbf/sdk/entry.hpp"
#include "hbf/sdk/text.hpp"

namespace hbf::sim {

constexpr const char *device_id = "sim0";

struct SimPlugin final : sdk::Plugin {
    static constexpr sdk::Facts facts{.name = "sim",
                                      .vendor = "Triple-H",
                                      .version = HBF_PLUGIN_VERSION,
                                      .description = "a simulated device: nothing it measures says anything of hardware"};

    std::vector<hbf_device_info> probe(const sdk::ProbeArgs &) override {
        hbf_device_info device{};
        device.struct_size = sizeof device;
        device.reality = HBF_REALITY_EMULATED;
        device.numa_node = -1;
        sdk::set_text(device.id, device_id);
        sdk::set_text(device.name, "simulated device");
        return {device};
    }

    std::unique_ptr<sdk::Instance> create(const sdk::CreateArgs &args) override {
        if (args.device_id != device_id)
            sdk::fail(HBF_UNAVAILABLE, "no device \"" + args.device_id + "\": the simulated one is \"sim0\"");
        return std::make_unique<SimInstance>(parse_options(args.options));
    }
};

} // namespace hbf::sim

HBF_PLUGIN(hbf::sim::SimPlugin);
