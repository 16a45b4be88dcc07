// SPDX-License-Identifier: Apache-2.0
#include "core/loader/probe_record.hpp"

#include <array>

#include <nlohmann/json.hpp>

#include "core/common/printable.hpp"

namespace hbf::loader {
namespace {

using nlohmann::json;

constexpr int cache_format = 2;
constexpr size_t longest_text = 1200; // a message of 1,024 bytes and what stands around it
constexpr size_t most_notes = 17;     // those of the log, and that of what was printed
constexpr std::array step_words = {"start", "load", "query", "probe", "create", "destroy"};

std::string dump(const json &document) {
    return document.dump(-1, ' ', true, json::error_handler_t::replace);
}

// A record is what a process with a plugin's code in it wrote, so nothing in it is taken on trust.
std::string text_at(const json &in, const char *key) {
    return printable(in.at(key).get_ref<const std::string &>(), longest_text);
}

json to_json(const TierInfo &tier) {
    json out = {{"index", tier.index},
                {"kind", static_cast<uint32_t>(tier.kind)},
                {"media", tier.media},
                {"emulated", tier.emulated},
                {"cpu", tier.cpu_access},
                {"device", tier.device_access},
                {"dma", tier.dma_access},
                {"persistent", tier.persistent},
                {"numa_bound", tier.numa_bound},
                {"degraded", tier.degraded},
                {"numa_node", tier.numa_node},
                {"line_size", tier.line_size},
                {"capacity", tier.capacity},
                {"available", tier.available},
                {"granule", tier.granule},
                {"alignment", tier.alignment},
                {"copy_alignment", tier.copy_alignment},
                {"bandwidth", tier.nominal_bandwidth},
                {"latency_ns", tier.nominal_latency_ns},
                {"name", tier.name},
                {"detail", tier.detail}};
    if (tier.domain) out["domain"] = *tier.domain;
    if (tier.extended_by) out["extended_by"] = *tier.extended_by;
    return out;
}

TierInfo tier_from(const json &in) {
    TierInfo tier;
    in.at("index").get_to(tier.index);
    tier.kind = static_cast<TierKind>(in.at("kind").get<uint32_t>());
    in.at("media").get_to(tier.media);
    in.at("emulated").get_to(tier.emulated);
    in.at("cpu").get_to(tier.cpu_access);
    in.at("device").get_to(tier.device_access);
    in.at("dma").get_to(tier.dma_access);
    in.at("persistent").get_to(tier.persistent);
    in.at("numa_bound").get_to(tier.numa_bound);
    in.at("degraded").get_to(tier.degraded);
    in.at("numa_node").get_to(tier.numa_node);
    in.at("line_size").get_to(tier.line_size);
    in.at("capacity").get_to(tier.capacity);
    in.at("available").get_to(tier.available);
    in.at("granule").get_to(tier.granule);
    in.at("alignment").get_to(tier.alignment);
    in.at("copy_alignment").get_to(tier.copy_alignment);
    in.at("bandwidth").get_to(tier.nominal_bandwidth);
    in.at("latency_ns").get_to(tier.nominal_latency_ns);
    tier.name = text_at(in, "name");
    tier.detail = text_at(in, "detail");
    if (in.contains("domain")) tier.domain = in["domain"].get<uint32_t>();
    if (in.contains("extended_by")) tier.extended_by = in["extended_by"].get<uint32_t>();
    return tier;
}

json to_json(const ProbedDevice &device) {
    json tiers = json::array();
    for (const TierInfo &tier : device.tiers) tiers.push_back(to_json(tier));
    return {{"id", device.id},
            {"name", device.name},
            {"driver", device.driver},
            {"pci_address", device.pci_address},
            {"numa_node", device.numa_node},
            {"emulated", device.emulated},
            {"on_cpu", device.on_cpu},
            {"reason", to_string(device.reason)},
            {"detail", device.detail},
            {"tiers", tiers},
            {"kernels", device.kernels}};
}

ProbedDevice device_from(const json &in) {
    ProbedDevice device;
    device.id = text_at(in, "id");
    device.name = text_at(in, "name");
    device.driver = text_at(in, "driver");
    device.pci_address = text_at(in, "pci_address");
    in.at("numa_node").get_to(device.numa_node);
    in.at("emulated").get_to(device.emulated);
    in.at("on_cpu").get_to(device.on_cpu);
    device.reason = reason_from(in.at("reason").get_ref<const std::string &>()).value_or(Reason::probe_failed);
    device.detail = text_at(in, "detail");
    for (const json &tier : in.at("tiers")) device.tiers.push_back(tier_from(tier));
    for (const json &kernel : in.at("kernels")) device.kernels.push_back(printable(kernel.get_ref<const std::string &>()));
    return device;
}

json to_json(const ProbeRecord &record) {
    json devices = json::array();
    for (const ProbedDevice &device : record.devices) devices.push_back(to_json(device));
    return {{"reason", to_string(record.reason)},
            {"detail", record.detail},
            {"vendor", record.vendor},
            {"version", record.version},
            {"description", record.description},
            {"compiler", record.compiler},
            {"build_id", record.build_id},
            {"devices", devices},
            {"notes", record.notes}};
}

std::optional<ProbeRecord> record_from(const json &in) {
    ProbeRecord record;
    const auto reason = reason_from(in.at("reason").get_ref<const std::string &>());
    if (!reason) return std::nullopt;
    record.reason = *reason;
    record.detail = text_at(in, "detail");
    record.vendor = text_at(in, "vendor");
    record.version = text_at(in, "version");
    record.description = text_at(in, "description");
    record.compiler = text_at(in, "compiler");
    record.build_id = text_at(in, "build_id");
    for (const json &device : in.at("devices")) record.devices.push_back(device_from(device));
    for (const json &note : in.at("notes")) {
        if (record.notes.size() == most_notes) break;
        record.notes.push_back(printable(note.get_ref<const std::string &>()));
    }
    return record;
}

} // namespace

std::string_view to_string(ProbeStep step) noexcept {
    return step_words.at(static_cast<size_t>(step));
}

std::optional<ProbeStep> step_from(std::string_view word) noexcept {
    for (size_t i = 0; i < step_words.size(); ++i) {
        if (word == step_words[i]) return static_cast<ProbeStep>(i);
    }
    return std::nullopt;
}

std::string encode(const ProbeRequest &request) {
    const FileIdentity &file = request.identity;
    return dump({{"library", request.plugin_file},
                 {"name", request.name},
                 {"root", request.root},
                 {"emulation", request.emulation},
                 {"options", request.options},
                 {"parent", request.parent},
                 {"identity", {file.device, file.inode, file.size, file.modified_ns, file.changed_ns}}});
}

std::string encode(const ProbeRecord &record) {
    return dump(to_json(record));
}

std::optional<ProbeRequest> decode_request(std::string_view text) {
    try {
        const json in = json::parse(text);
        ProbeRequest request;
        in.at("library").get_to(request.plugin_file);
        in.at("name").get_to(request.name);
        in.at("root").get_to(request.root);
        in.at("emulation").get_to(request.emulation);
        in.at("options").get_to(request.options);
        in.at("parent").get_to(request.parent);
        const json &file = in.at("identity");
        request.identity = {file.at(0), file.at(1), file.at(2), file.at(3), file.at(4)};
        return request;
    } catch (const json::exception &) {
        return std::nullopt;
    }
}

std::optional<ProbeRecord> decode_record(std::string_view text) {
    try {
        return record_from(json::parse(text));
    } catch (const json::exception &) {
        return std::nullopt;
    }
}

std::string encode_cached(const std::string &key, const ProbeRecord &record) {
    return dump({{"format", cache_format}, {"key", key}, {"record", to_json(record)}});
}

std::optional<ProbeRecord> decode_cached(const std::string &key, std::string_view text) {
    try {
        const json in = json::parse(text);
        if (in.at("format") != cache_format || in.at("key") != key) return std::nullopt;
        return record_from(in.at("record"));
    } catch (const json::exception &) {
        return std::nullopt;
    }
}

} // namespace hbf::loader
