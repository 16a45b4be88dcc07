// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/cxl.hpp"

#include <fmt/format.h>

#include "core/host/parse.hpp"

namespace hbf::tools::doctor {

std::vector<std::string> numbered(Look &look, const std::string &folder, std::string_view kind) {
    std::vector<std::string> out = look.entries(folder);
    std::erase_if(out, [&](const std::string &name) {
        const size_t digit = kind.size();
        return !name.starts_with(kind) || name.size() == digit || name[digit] < '0' || name[digit] > '9';
    });
    return out;
}

std::vector<std::string> far_nodes(Look &look) {
    std::vector<std::string> out;
    const std::string folder = "sys/bus/dax/devices";
    for (const std::string &dax : numbered(look, folder, "dax")) {
        const std::string file = below(folder, dax, "target_node");
        const auto text = look.text(file);
        if (!text) continue;
        const auto node = host::parse_signed(*text);
        if (!node) look.garbled(file, "a node's number");
        if (node && *node >= 0) out.push_back(fmt::format("node{}", *node));
    }
    return out;
}

bool any_cxl(Look &look) {
    const bool there = !numbered(look, "sys/bus/cxl/devices", "mem").empty() ||
                       !numbered(look, "sys/bus/cxl/devices", "region").empty() ||
                       !numbered(look, "sys/bus/dax/devices", "dax").empty();
    if (!there) look.not_applicable("this machine has no CXL or DAX memory");
    return there;
}

} // namespace hbf::tools::doctor
