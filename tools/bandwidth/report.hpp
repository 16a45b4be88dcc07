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

Exit verdict(const Run &run); // fail over error over pass; all skipped is untested

std::string report_text(const Run &run, const Machine &machine, const Options &options);
std::string report_json(const Run &run, const Machine &machine, const Options &options);
std::string report_csv(const Run &run); // a line a sample

std::string figure(const Row &row);       // "312.4 GB/s ± 1.2%", with what must stand beside it
std::string closing_line(const Run &run); // "Measured bandwidth: 312.4 GB/s ± 1.2%", or why there is none

std::string to_string(PageCache cache);
std::string pages_text(const std::map<int, size_t> &pages); // "node 0", "node 0: 12, node 1: 3"

} // namespace hbf::tools::bandwidth
