// SPDX-License-Identifier: Apache-2.0
// How plugin code reports an error: throw Failure. The shell (entry.hpp) turns it, and any other exception, into a status
// and a message in the host's buffer.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "hbf/abi/basic.h"
#include "hbf/abi/tier.h"

namespace hbf::sdk {

struct Failure {
    hbf_status status = HBF_INTERNAL;
    std::string message;
    hbf_region region = 0;
    uint64_t offset = HBF_NO_PLACE;
};

[[noreturn]] inline void fail(hbf_status status, std::string message, hbf_region region = 0,
                              uint64_t offset = HBF_NO_PLACE) {
    throw Failure{status, std::move(message), region, offset};
}

} // namespace hbf::sdk
