// SPDX-License-Identifier: Apache-2.0
// Cambricon's libraries as this machine has them: opened at run time, never linked, never closed.
#pragma once

#include <string>

#include "plugins/cambricon/api.hpp"

namespace hbf::cambricon {

struct Version {
    int major = 0, minor = 0, patch = 0;
    std::string text() const;
};

struct Library {
    Cnrt cnrt;
    Cndrv drv;
    Cndev dev;
    std::string file;      // libcnrt.so as it was found
    Version version;       // of CNRT
    std::string no_names;  // why there is no CNDrv; "" if there is one
    std::string no_health; // why there is no CNDev
};

// [any thread] The table, the same each time. Throws sdk::Failure, which a later call repeats or, once the libraries are
// there, does not: UNAVAILABLE "driver_absent: ...", UNSUPPORTED "driver_too_old: ..." below CNRT 6.0 or where a function
// is missing, INTERNAL where the library says a version that is none.
const Library &library();

} // namespace hbf::cambricon
