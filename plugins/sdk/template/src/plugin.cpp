// SPDX-License-Identifier: Apache-2.0
// The plugin: what it is called, which devices there are, and how one is opened.
#include <memory>
#include <string>
#include <vector>

#include "about.hpp"
#include "hbf/sdk/entry.hpp"
#include "memory.hpp"

namespace plugin {
namespace {

using hbf::sdk::fail;

constexpr uint64_t usual_mebibytes = 64;

std::string device_id() {
    return std::string(about::name) + "0";
}

// An option that is not known, or has a value that makes no sense, is refused: ignored, it would look like a sick device.
uint64_t capacity_from(const hbf::sdk::Options &options) {
    uint64_t mebibytes = usual_mebibytes;
    for (const auto &[key, value] : options) {
        const bool number = !value.empty() && value.size() <= 6 && value.find_first_not_of("0123456789") == value.npos;
        if (key != "mebibytes" || !number)
            fail(HBF_INVALID, "option " + key + " = \"" + value + "\": only mebibytes = 0 to 999999 is known");
        mebibytes = std::stoull(value);
    }
    return mebibytes << 20;
}

class Plugin final : public hbf::sdk::Plugin {
public:
    static constexpr hbf::sdk::Facts facts{
        .name = about::name, .vendor = about::vendor, .version = about::version, .description = "one memory tier"};

    // Looks, and opens nothing that has an effect. Where the device is not there, say so, with the reason:
    //     fail(HBF_UNAVAILABLE, "driver_absent: libacme.so.1 is not installed");
    //     fail(HBF_PERMISSION, "/dev/acme0: Permission denied");
    std::vector<hbf_device_info> probe(const hbf::sdk::ProbeArgs &) override {
        hbf_device_info device{};
        device.reality = about::emulated ? HBF_REALITY_EMULATED : HBF_REALITY_REAL;
        device.numa_node = -1;
        hbf::sdk::set_text(device.id, device_id());
        hbf::sdk::set_text(device.name, "memory of this process");
        return {device};
    }

    std::unique_ptr<hbf::sdk::Instance> create(const hbf::sdk::CreateArgs &args) override {
        if (args.device_id != device_id()) fail(HBF_UNAVAILABLE, "there is no device " + args.device_id);
        return std::make_unique<Memory>(capacity_from(args.options));
    }
};

} // namespace
} // namespace plugin

HBF_PLUGIN(plugin::Plugin);
