// SPDX-License-Identifier: Apache-2.0
// Looks at a machine before it is measured or trusted.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "tools/doctor/check.hpp"
#include "tools/doctor/finding.hpp"
#include "tools/doctor/known_bad.hpp"

namespace hbf::tools::doctor {

struct Examination {
    std::string root;
    std::vector<Finding> findings; // in the order of all_checks()

    size_t count(Verdict verdict) const;
    std::string summary() const; // "doctor: 40 pass, 3 warn, 1 fail, 12 not applicable, 6 cannot tell"
};

// Each check whose id or family is named ("memory", "memory.thp"); none named: all. The error is a name that is none.
tl::expected<std::vector<Check>, std::string> choose_checks(const std::vector<std::string> &names);

// The root must be a folder. Nothing is changed on the machine, and no vendor's program or library is used.
Examination examine(const std::filesystem::path &root, const std::vector<Check> &checks, const KnownBad &known_bad);

// All checks of the machine this runs on, for a report; a list that cannot be read is a doubt of the checks that need it.
Examination preflight();

} // namespace hbf::tools::doctor
