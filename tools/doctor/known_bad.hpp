// SPDX-License-Identifier: Apache-2.0
// Versions that are known to be bad, from a data file whose entries each name their source (known_bad.toml).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tl/expected.hpp>

#include "tools/doctor/finding.hpp"

namespace hbf::tools::doctor {

struct BadVersion {
    std::string id, component, versions, model, symptom, remedy, source, checked; // checked: "2026-11-29"
    uint64_t devices = 0;
    Verdict verdict = Verdict::warn;
    bool proven = false;
};

struct KnownBad {
    std::string file;
    std::vector<BadVersion> entries;
    std::string error; // why there are none: then nobody may say that a version is good
};

// The error has file, line and column. Refused: unknown keys, a missing or empty key, an id twice, no comparison, an address
// that is none, an unconfirmed entry that would fail a machine.
tl::expected<KnownBad, std::string> parse_known_bad(std::string_view text, const std::string &file);

// `file` "": the list of this installation (share/hbf/known_bad.toml, or that of the build).
tl::expected<KnownBad, std::string> load_known_bad(const std::string &file);

} // namespace hbf::tools::doctor
