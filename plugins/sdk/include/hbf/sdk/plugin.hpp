// SPDX-License-Identifier: Apache-2.0
// What a plugin author writes: one class derived from Plugin, and HBF_PLUGIN(ThatClass) in one source file (entry.hpp).
//
//     struct MyPlugin : hbf::sdk::Plugin {
//         static constexpr hbf::sdk::Facts facts{.name = "mine", .vendor = "Me", .version = "1.0.0", .description = "..."};
//         std::vector<hbf_device_info> probe(const hbf::sdk::ProbeArgs &) override;
//         std::unique_ptr<hbf::sdk::Instance> create(const hbf::sdk::CreateArgs &) override;
//     };
//     HBF_PLUGIN(MyPlugin)
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hbf/abi/plugin.h"
#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/instance.hpp"
#include "hbf/sdk/log.hpp"
#include "hbf/sdk/text.hpp"

namespace hbf::sdk {

struct Facts {
    const char *name, *vendor, *version, *description;
    const char *build_id = "";
    // Oldest plugin ABI that the plugin works with, where it cannot do without something newer: HBF_ABI_MAKE(0, 3). An older
    // host then refuses it, with the reason. 0: every version these headers serve.
    uint32_t abi_min = 0;
};

using Options = std::map<std::string, std::string>;

struct ProbeArgs {
    Options options;
    std::string system_root; // "" or "/" in production
    Log log;
};

struct CreateArgs {
    std::string device_id;
    Options options; // refuse an unknown key with HBF_INVALID
    std::string system_root;
    Log log;
};

// Made anew for each probe and create: keeps no state.
class Plugin {
public:
    virtual ~Plugin() = default;
    virtual std::vector<hbf_device_info> probe(const ProbeArgs &args) = 0; // throws UNAVAILABLE where there is no device
    virtual std::unique_ptr<Instance> create(const CreateArgs &args) = 0;
};

} // namespace hbf::sdk
