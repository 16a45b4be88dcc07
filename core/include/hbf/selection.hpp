// SPDX-License-Identifier: Apache-2.0
// Which plugins were considered, how far each came and why it was taken or not.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hbf/config.hpp"
#include "hbf/inventory.hpp"
#include "hbf/status.hpp"
#include "hbf/tier.hpp"

struct hbf_plugin; // hbf/abi/plugin.h

namespace hbf {

enum class Stage { found, manifest, policy, trust, static_check, probe, rank, open };

// The closed list of reasons. Every candidate has exactly one.
enum class Reason {
    selected,
    outranked,
    denied_by_config,
    not_in_allow_list,
    untrusted_path,
    manifest_invalid,
    wrong_arch,
    not_a_plugin,
    abi_too_old,
    abi_too_new,
    sanitizer_mismatch,
    missing_dependency,
    driver_absent,
    driver_stub,
    driver_too_old,
    permission_denied,
    no_device,
    device_busy,
    probe_failed,
    probe_crashed,
    probe_timeout,
    create_failed,
    duplicate_name,
};
HBF_API std::string_view to_string(Stage stage) noexcept;
HBF_API std::string_view to_string(Reason reason) noexcept;

struct ProbedDevice {
    std::string id, name, driver, pci_address;
    int numa_node = -1;
    bool emulated = false;
    bool on_cpu = false;              // this machine's CPUs do its work, through a runtime made for devices
    std::vector<TierInfo> tiers;      // from the trial opening in the probe process; `available` as of then
    std::vector<std::string> kernels; // names of those it can run; none was built
    Reason reason = Reason::selected; // or why it does not serve although its plugin may: create_failed, outranked
    std::string detail;
};

struct Candidate {
    std::filesystem::path manifest, plugin_file;
    std::string name, vendor, version, kind; // kind "device" | "emulation"
    int priority = 0;
    bool pinned = false;
    std::string sha256;         // of the library file, "" if it was never read
    Stage stage = Stage::found; // the last stage entered
    Reason reason = Reason::not_a_plugin;
    std::string detail; // the sentence: what exactly, and the remedy
    bool probe_cached = false;
    double probe_ms = 0;                // wall time of the probe process, 0 if none ran
    std::vector<ProbedDevice> devices;  // real before emulated, accelerators before CPUs, those that do not serve last
    const hbf_plugin *plugin = nullptr; // set when opened; valid for the life of the process
};

struct SelectOptions {
    std::filesystem::path root = "/"; // the machine that is looked at
    bool use_cache = true;
    bool open = true;                // false: stop after ranking (hbf probe)
    std::function<bool()> cancelled; // asked often while probes run; true ends them all: Code::cancelled
};

struct Selection {
    Inventory inventory;
    std::vector<Candidate> candidates;        // in rank order: selected ones first, primary at 0
    std::vector<std::string> notes;           // warnings: ignored environment, unknown manifest keys, ...
    HBF_API const Candidate *primary() const; // nullptr if nothing was selected
};

// Finds, checks, probes, ranks and opens. Probing happens in a process of its own, which also opens each device once and
// closes it, so that a plugin that crashes, hangs or exits takes nothing down with it. An unmet pin or an unknown name is
// an error; that no plugin serves this host is not (primary() is nullptr and every candidate says why).
HBF_API Result<Selection> select_plugins(const Config &config, const SelectOptions &options = {});

// Notes that a selected plugin's device could not be opened after all: its reason becomes create_failed and it moves behind
// the selected ones. For a pinned plugin that is the caller's error too, and returned; never a silent fallback.
HBF_API Result<> mark_create_failed(Selection &selection, std::string_view plugin, const Error &cause);

} // namespace hbf
