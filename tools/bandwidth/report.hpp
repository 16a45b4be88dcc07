// SPDX-License-Identifier: Apache-2.0
// A run as text, JSON or CSV.
#pragma once

#include <string>

#include "tools/bandwidth/machine.hpp"
#include "tools/bandwidth/options.hpp"
#include "tools/bandwidth/result.hpp"
#include "tools/cli/command.hpp"

namespace hbf::tools::bandwidth {

constexpr int schema_version = 1; // of the JSON document: grows when a field changes meaning or goes

const char *verdict_name(Exit exit);    // "pass", "fail", "skipped", "error"
std::string status_name(Status status); // "pass", as in documents
Exit verdict(const Run &run);           // fail over error over pass; all skipped is untested

std::string report_text(const Run &run, const Machine &machine, const Options &options);
std::string report_json(const Run &run, const Machine &machine, const Options &options);
std::string report_csv(const Run &run); // a line a sample
// JSON Lines in the Open Compute Project's test and validation format (ocp-diag-core, version 2.0).
std::string report_ocp(const Run &run, const Machine &machine, const Options &options);

std::string transfer_name(const Row &row); // "dram0 (...) -> host queue -> dram0 (...)", with its shape
std::string figure(const Row &row);        // "312.4 GB/s ± 1.2%", with what must stand beside it
std::string closing_line(const Run &run);  // "Measured bandwidth: 312.4 GB/s ± 1.2%", or why there is none

std::string to_string(PageCache cache);
std::string pages_text(const std::map<int, size_t> &pages); // "node 0", "node 0: 12, node 1: 3"

} // namespace hbf::tools::bandwidth
