// SPDX-License-Identifier: Apache-2.0
// What the loader and its probe process tell each other, as JSON. The JSON library is seen in probe_record.cpp only.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/loader/identity.hpp"
#include "core/loader/reasons.hpp"

namespace hbf::loader {

struct ProbeRequest {
    std::string plugin_file, name, root;
    FileIdentity identity;
    bool emulation = false;
    std::vector<std::pair<std::string, std::string>> options;
    int64_t parent = 0; // process id: when it is gone, the probe ends
};

struct ProbeRecord {
    Reason reason = Reason::probe_failed; // selected: it can serve
    std::string detail;
    std::string vendor, version, description, compiler, build_id; // of the table, as far as it was reached
    std::vector<ProbedDevice> devices;
    std::vector<std::string> notes;
};

// The steps of a probe, in order; the child says each before it takes it, so that it is known where it died.
enum class ProbeStep { start, load, query, probe, create, destroy };
std::string_view to_string(ProbeStep step) noexcept;
std::optional<ProbeStep> step_from(std::string_view word) noexcept;

std::string encode(const ProbeRequest &request);
std::string encode(const ProbeRecord &record);
std::optional<ProbeRequest> decode_request(std::string_view text);
std::optional<ProbeRecord> decode_record(std::string_view text);

// A cache file: the record, and the key it belongs to in full.
std::string encode_cached(const std::string &key, const ProbeRecord &record);
std::optional<ProbeRecord> decode_cached(const std::string &key, std::string_view text);

} // namespace hbf::loader
