// SPDX-License-Identifier: Apache-2.0
// What is done to one candidate before any of its code runs: manifest, policy, trust, static check, needs.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/loader/manifest.hpp"
#include "core/loader/policy.hpp"
#include "core/loader/probe_process.hpp"
#include "core/loader/rank.hpp"
#include "core/loader/trust.hpp"
#include "hbf/selection.hpp"

namespace hbf::loader {

// A candidate on its way through the stages.
struct Entry {
    Candidate candidate;
    std::optional<Manifest> manifest;
    std::filesystem::path real; // of the library, without links
    FileIdentity identity;
    ProbeJob job;
    std::string key; // of its probe
    RankKey rank;
    bool viable = true; // no stage has refused it

    void enter(Stage stage) { candidate.stage = stage; }
    void refuse(Refusal refusal);
};

// What the checks of all candidates share.
struct ExamineContext {
    const Inventory &inventory;
    Policy policy;
    Yardstick yardstick;
    bool allow_untrusted = false;
    std::vector<std::string> &notes;
};

// Reads the manifest; on a bad one the candidate is called after its file.
Entry entry_of_manifest(const std::filesystem::path &manifest, size_t found_index, std::vector<std::string> &notes);

// A library in a search folder that no manifest names: listed, so that nobody wonders.
Entry entry_of_lone_library(const std::filesystem::path &library, size_t found_index);

// Takes the candidate up to the door of its probe.
void examine(Entry &entry, const ExamineContext &context);

} // namespace hbf::loader
