// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/doctor/look.hpp"
#include "tools/doctor/vendors.hpp"

namespace hbf::tools::doctor {

struct Installed {
    const Component *component = nullptr;
    std::string version, file;
};

// What is installed of a vendor's drivers ("driver") or runtimes ("runtime"), with its version. A file that is there and
// names no version is a doubt.
std::vector<Installed> installed(Look &look, uint16_t vendor, std::string_view what);

} // namespace hbf::tools::doctor
