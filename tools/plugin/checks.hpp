// SPDX-License-Identifier: Apache-2.0
// The checks of hbf plugin check, in the order they are made. None of a plugin's code runs in this process.
#pragma once

#include <chrono>
#include <functional>

#include "tools/plugin/candidate.hpp"
#include "tools/plugin/finding.hpp"

namespace hbf::tools::plugin {

struct CheckOptions {
    std::function<bool()> stop; // asked often; true ends what runs
};

Findings check_plugin(const PluginFiles &files, const CheckOptions &options);

// What is left to the next one: is this library one whose code may be run?
struct FileVerdict {
    bool readable = false, is_plugin = false, loadable = false; // loadable: for this machine and this host
};
FileVerdict check_file(const std::filesystem::path &library, Findings &findings);

void check_manifest(const PluginFiles &files, Findings &findings);

// Who could change the files. False: their code is not run here either.
bool check_trust(const PluginFiles &files, bool allow_untrusted, Findings &findings);

// Loads it in a process of its own that does nothing else. False: that went so badly that no more of it is run.
bool check_load(const std::filesystem::path &library, std::chrono::milliseconds limit, const CheckOptions &options,
                Findings &findings);

// What a host that looks for plugins makes of it: probed, each device opened and closed.
void check_selection(const PluginFiles &files, const CheckOptions &options, Findings &findings);

// What the library says of itself, against its manifest and this core.
void check_table(const PluginFiles &files, const CheckOptions &options, Findings &findings);

} // namespace hbf::tools::plugin
