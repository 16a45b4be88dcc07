// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/version.hpp"

#include <fmt/format.h>

#include "hbf/abi/version.h"
#include "hbf/system.hpp"

namespace hbf::tools {

std::string tool_version() {
    return HBF_TOOL_VERSION;
}

std::string version_text() {
    return fmt::format("hbf {} (libhbf {}, plugin ABI {}.{})\n", tool_version(), version(),
                       HBF_ABI_MAJOR_OF(HBF_ABI_VERSION), HBF_ABI_MINOR_OF(HBF_ABI_VERSION));
}

} // namespace hbf::tools
