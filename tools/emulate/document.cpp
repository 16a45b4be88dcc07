// SPDX-License-Identifier: Apache-2.0
#include "tools/emulate/document.hpp"

#include "core/output/json.hpp"
#include "tools/cli/version.hpp"
#include "tools/emulate/libraries.hpp"

namespace hbf::tools::emulate {
namespace {

Json document(const char *schema) {
    return Json::object({{"schema", schema}, {"schema_version", 1}, {"tool_version", tool_version()}});
}

const char *word(model::PeerAccess access) {
    switch (access) {
    case model::PeerAccess::works:
        return "works";
    case model::PeerAccess::drops:
        return "drops";
    case model::PeerAccess::none:
        break;
    }
    return "none";
}

Json device(const model::ProfileDevice &one) {
    return Json::object({{"name", one.name},
                         {"emulated", true},
                         {"plugin", one.vendor == "generic" ? Json("sim") : Json(one.vendor)},
                         {"pci", one.pci},
                         {"memory_bytes", one.memory},
                         {"numa_node", one.numa},
                         {"architecture", one.architecture}});
}

Json link(const model::ProfileLink &one) {
    return Json::object({{"between", Json::array_of(std::vector<std::string>{one.a, one.b})},
                         {"kind", one.kind},
                         {"bytes_per_s", one.bandwidth},
                         {"latency_ns", one.latency_ns},
                         {"up", one.up},
                         {"peer", word(one.peer)}});
}

Json machine(const std::string &name) {
    const auto profile = model::load_profile(name);
    if (!profile) return Json::object({{"name", name}, {"usable", false}, {"trouble", profile.error().message}});
    Json nodes = Json::array(), devices = Json::array(), links = Json::array();
    for (const auto &one : profile->host.nodes)
        nodes.push(Json::object({{"id", one.id}, {"memory_bytes", one.memory}, {"cxl", one.cxl}}));
    for (const auto &one : profile->devices) devices.push(device(one));
    for (const auto &one : profile->links) links.push(link(one));
    return Json::object({{"name", name},
                         {"usable", true},
                         {"title", profile->title},
                         {"file", profile->file},
                         {"source", profile->source},
                         {"numa_nodes", nodes},
                         {"devices", devices},
                         {"links", links}});
}

} // namespace

std::string machines_json(const std::vector<std::string> &names) {
    Json machines = Json::array();
    for (const std::string &name : names) machines.push(machine(name));
    return document("hbf.emulate.machines").set("machines", machines).dump();
}

std::string faults_json() {
    Json faults = Json::array();
    for (const auto &fault : model::all_faults())
        faults.push(Json::object({{"name", fault.name}, {"acts_in", fault.where}, {"what", fault.line}}));
    return document("hbf.emulate.faults").set("faults", faults).dump();
}

} // namespace hbf::tools::emulate
