// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/doctor/doctor.hpp"

namespace hbf::tools::doctor {

std::string report_text(const Examination &examination);  // a table, then what is not as it should be, then the summary
std::string report_fixes(const Examination &examination); // a script of commands to read, choose from and copy
std::string report_json(const Examination &examination);

std::string list_text(const std::vector<Check> &checks);
std::string list_json(const std::vector<Check> &checks);

} // namespace hbf::tools::doctor
