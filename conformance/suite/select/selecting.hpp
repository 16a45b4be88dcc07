// SPDX-License-Identifier: Apache-2.0
// The host's own selection of plugins, in folders that a case fills: what the select and security cases have in common.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "conformance/suite/context.hpp"
#include "core/loader/hostile/scene.hpp"
#include "hbf/selection.hpp"

namespace hbf::conformance {

using Settings = std::map<std::string, std::string>;

struct Selecting {
    std::vector<std::filesystem::path> path;
    Settings settings = {};
    bool use_cache = false;
    bool open = false;
    bool privileged = true; // neither the user's environment nor their files count
};
Result<Selection> try_select(const Selecting &how);
Selection select(const Selecting &how); // fails the case where the selection itself fails

const Candidate *find(const Selection &selection, std::string_view name); // nullptr: it was not seen
const Candidate &must_find(const Selection &selection, std::string_view name);
std::string why(const Candidate &candidate); // "untrusted_path in trust: /tmp/x is writable by everyone"

// Puts a copy of the plugin under test, and a manifest for it, into a folder. Returns its name. The settings get the options
// it is run with.
std::string stage_subject(Subject &subject, hostile::Scene &scene, const std::filesystem::path &folder, Settings &settings);

} // namespace hbf::conformance
