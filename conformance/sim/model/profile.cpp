// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/model/profile.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "conformance/sim/model/health.hpp"
#include "conformance/sim/model/profile_reader.hpp"
#include "core/output/size.hpp"

namespace hbf::model {
namespace {

template <class Value>
using Choices = std::pair<std::string_view, Value>;

constexpr Choices<Coherence> coherences[] = {
    {"hardware", Coherence::hardware}, {"boundary", Coherence::boundary}, {"software", Coherence::software}};
constexpr Choices<PeerAccess> peers[] = {
    {"none", PeerAccess::none}, {"works", PeerAccess::works}, {"advertised-but-drops", PeerAccess::drops}};
constexpr Choices<Timing> timings[] = {
    {"none", Timing::none}, {"links", Timing::links}, {"free", Timing::free}, {"virtual", Timing::virtual_time}};

ProfileHost read_host(const TomlNode &node, const std::string &file) {
    ProfileHost host;
    ProfileReader reader(node, file, "[host]");
    reader.text("cpu", host.cpu);
    reader.text("iommu", host.iommu);
    reader.boolean("acs_redirect", host.acs_redirect);
    reader.bytes("memory", host.memory);
    if (const TomlNode *const nodes = reader.list("nodes"))
        for (const TomlNode &item : nodes->items) {
            ProfileNode &made = host.nodes.emplace_back();
            ProfileReader each(item, file, "[[host.nodes]]");
            each.require("id");
            each.integer("id", made.id);
            each.text("cpus", made.cpus);
            each.bytes("memory", made.memory);
            each.text("distances", made.distances);
            each.bytes("bandwidth", made.bandwidth);
            each.integer("latency_ns", made.latency_ns);
            each.boolean("cxl", made.cxl);
            each.finish();
        }
    reader.finish();
    if (host.memory == 0)
        for (const ProfileNode &each : host.nodes)
            if (!each.cxl) host.memory += each.memory;
    return host;
}

int64_t attribute_number(const TomlNode &item, const ProfileReader &reader) {
    const char *const end = item.key.data() + item.key.size();
    int64_t number = 0;
    const auto [at, error] = std::from_chars(item.key.data(), end, number);
    if (error != std::errc() || at != end)
        reader.problem(item, fmt::format("attribute \"{}\": must be the vendor's number of it", item.key));
    return number;
}

void read_free_tables(ProfileReader &reader, ProfileDevice &device) {
    if (const TomlNode *const table = reader.table("attributes"))
        for (const TomlNode &item : table->items) {
            if (item.type != TomlType::integer) reader.problem(item, "attribute " + item.key + ": must be an integer");
            device.attributes[attribute_number(item, reader)] = item.integer;
        }
    if (const TomlNode *const table = reader.table("texts"))
        for (const TomlNode &item : table->items) device.texts[item.key] = item.text;
    if (const TomlNode *const table = reader.table("counters"))
        for (const TomlNode &item : table->items) {
            if (!counter_named(item.key)) reader.problem(item, "no counter \"" + item.key + "\"");
            if (item.type != TomlType::integer || item.integer < 0)
                reader.problem(item, "counter " + item.key + ": must be a number, 0 or more");
            device.counters[item.key] = static_cast<uint64_t>(item.integer);
        }
}

// What the table says of a device; the rest stays as it is.
void read_device(const TomlNode &node, const std::string &file, const char *what, ProfileDevice &device) {
    ProfileReader reader(node, file, what);
    reader.text("name", device.name);
    reader.text("vendor", device.vendor);
    reader.text("pci", device.pci);
    reader.integer("pci_vendor", device.pci_vendor);
    reader.integer("pci_device", device.pci_device);
    reader.text("pci_class", device.pci_class);
    reader.text("driver", device.driver);
    reader.text("uuid", device.uuid);
    reader.text("architecture", device.architecture);
    reader.bytes("memory", device.memory);
    reader.bytes("reserved", device.reserved);
    reader.integer("numa", device.numa);
    reader.integer("memory_node", device.memory_node, -1);
    reader.integer("copy_engines", device.copy_engines, 1);
    reader.integer("compute_units", device.compute_units, 1);
    reader.integer("line", device.line, 8);
    reader.integer("warp", device.warp, 1);
    reader.integer("max_group_size", device.max_group_size, 1);
    reader.integer("allocation_granularity", device.allocation_granularity, 4096);
    reader.boolean("cpu_access", device.cpu_access);
    reader.boolean("pageable_access", device.pageable_access);
    reader.choice<Coherence>("host_access", device.host_access, coherences);
    device.host_access_claimed = device.host_access;
    reader.choice<Coherence>("host_access_claimed", device.host_access_claimed, coherences);
    if (const TomlNode *const nodes = reader.list("nodes")) {
        device.nodes.clear();
        for (const TomlNode &item : nodes->items) device.nodes.push_back(item.text);
    }
    read_free_tables(reader, device);
    reader.finish();
}

void check_device(const TomlNode &node, const ProfileReader &reader, const ProfileDevice &device) {
    const auto need = [&](bool there, const char *key) {
        if (!there) reader.problem(node, fmt::format("device \"{}\" has no {}", device.name, key));
    };
    need(!device.name.empty(), "name");
    need(!device.vendor.empty(), "vendor");
    need(!device.pci.empty(), "pci");
    need(device.memory != 0, "memory");
    if (device.reserved >= device.memory) reader.problem(node, "reserved: must be less than memory");
    for (const uint32_t power : {device.line, device.allocation_granularity})
        if ((power & (power - 1)) != 0)
            reader.problem(node, fmt::format("{}: line and allocation_granularity must be powers of two", power));
}

void read_devices(ProfileReader &reader, Profile &profile) {
    ProfileDevice common;
    if (const TomlNode *const node = reader.table("device")) read_device(*node, reader.file(), "[device]", common);
    const TomlNode *const list = reader.list("devices");
    if (!list) return;
    for (const TomlNode &item : list->items) {
        ProfileDevice device = common;
        read_device(item, reader.file(), "[[devices]]", device);
        const auto has = [&](const ProfileDevice &other) { return other.pci == device.pci; };
        check_device(item, reader, device);
        if (std::any_of(profile.devices.begin(), profile.devices.end(), has))
            reader.problem(item, "pci = \"" + device.pci + "\": another device has it");
        profile.devices.push_back(std::move(device));
    }
}

bool agent_exists(const Profile &profile, std::string_view agent) {
    const auto numbered = [&](std::string_view prefix, auto &&exists) {
        if (!agent.starts_with(prefix)) return false;
        const auto number = parse_number(agent.substr(prefix.size()));
        return number && exists(*number);
    };
    const auto node = [&](uint64_t id) {
        return std::any_of(profile.host.nodes.begin(), profile.host.nodes.end(),
                           [&](const ProfileNode &each) { return each.id == static_cast<int>(id); });
    };
    return agent == "host" || numbered("device", [&](uint64_t i) { return i < profile.devices.size(); }) ||
           numbered("node", node) || numbered("cxl", node);
}

void read_links(ProfileReader &reader, Profile &profile) {
    const TomlNode *const list = reader.list("links");
    if (!list) return;
    for (const TomlNode &item : list->items) {
        ProfileLink link;
        ProfileReader each(item, reader.file(), "[[links]]");
        each.require("between");
        each.require("kind");
        each.text("kind", link.kind);
        each.bytes("bandwidth", link.bandwidth);
        each.integer("latency_ns", link.latency_ns);
        each.integer("generation", link.generation);
        each.integer("width", link.width);
        link.max_generation = link.generation;
        link.max_width = link.width;
        each.integer("max_generation", link.max_generation);
        each.integer("max_width", link.max_width);
        each.integer("lanes", link.lanes, 1);
        each.boolean("up", link.up);
        each.choice<PeerAccess>("peer", link.peer, peers);
        const TomlNode &between = *each.list("between");
        each.finish();
        if (between.items.size() < 2) each.problem(between, "between: must name two agents or more");
        for (const TomlNode &agent : between.items)
            if (!agent_exists(profile, agent.text))
                each.problem(agent, "between: no \"" + agent.text + "\"; there are host, nodeN, cxlN and deviceN");
        for (size_t i = 0; i < between.items.size(); ++i)
            for (size_t j = i + 1; j < between.items.size(); ++j) {
                link.a = between.items[i].text;
                link.b = between.items[j].text;
                profile.links.push_back(link);
            }
    }
}

void read_vendors(ProfileReader &reader, Profile &profile) {
    const TomlNode *const vendors = reader.table("vendor");
    if (!vendors) return;
    for (const TomlNode &vendor : vendors->items) {
        if (vendor.type != TomlType::table) reader.problem(vendor, "[vendor." + vendor.key + "] must be a table");
        for (const TomlNode &item : vendor.items) profile.vendor[vendor.key][item.key] = item.text;
    }
}

} // namespace

std::optional<Timing> timing_named(std::string_view word) noexcept {
    for (const auto &[name, timing] : timings)
        if (name == word) return timing;
    return std::nullopt;
}

Result<Profile> parse_profile(std::string_view text, const std::string &file) {
    const auto root = parse_toml(text, file);
    if (!root) return tl::unexpected(root.error());
    try {
        Profile profile;
        profile.file = file;
        ProfileReader reader(*root, file, "the profile");
        reader.require("name");
        reader.require("host");
        reader.text("name", profile.name);
        reader.text("title", profile.title);
        reader.text("source", profile.source);
        reader.choice<Timing>("timing", profile.timing, timings);
        profile.host = read_host(*reader.table("host"), file);
        read_devices(reader, profile);
        read_links(reader, profile);
        read_vendors(reader, profile);
        reader.finish();
        return profile;
    } catch (const ProfileProblem &problem) {
        return fail(Code::invalid, problem.message);
    }
}

std::string Profile::vendor_text(const std::string &vendor_name, const std::string &key,
                                 const std::string &otherwise) const {
    const auto table = vendor.find(vendor_name);
    if (table == vendor.end()) return otherwise;
    const auto found = table->second.find(key);
    return found == table->second.end() ? otherwise : found->second;
}

int64_t Profile::vendor_number(const std::string &vendor_name, const std::string &key, int64_t otherwise) const {
    const std::string value = vendor_text(vendor_name, key);
    int64_t number = 0;
    const auto [at, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    return !value.empty() && error == std::errc() && at == value.data() + value.size() ? number : otherwise;
}

const ProfileLink *Profile::link(std::string_view a, std::string_view b) const {
    for (const ProfileLink &each : links)
        if ((each.a == a && each.b == b) || (each.a == b && each.b == a)) return &each;
    return nullptr;
}

} // namespace hbf::model
