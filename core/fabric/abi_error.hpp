// SPDX-License-Identifier: Apache-2.0
// The message buffer that a plugin fills; with the guard that keeps exceptions inside libhbf, both edges of a call.
#pragma once

#include <string>

#include "core/common/guarded.hpp"
#include "hbf/abi/basic.h"
#include "hbf/status.hpp"

namespace hbf::fabric {

// Lives on the stack: no allocation until a call really failed.
class AbiError {
public:
    AbiError() {
        buffer_[0] = 0;
        raw_ = {sizeof(hbf_error), 0, buffer_, sizeof(buffer_), 0, 0, HBF_NO_PLACE};
    }
    AbiError(const AbiError &) = delete;
    AbiError &operator=(const AbiError &) = delete;

    hbf_error *out() { return &raw_; }
    uint64_t region() const { return raw_.region; }
    uint64_t offset() const { return raw_.offset; }

    // "WHAT: the plugin's message"; a plugin that wrote none gets the name of its code.
    Error to_error(hbf_status status, const std::string &what) const;

private:
    hbf_error raw_;
    char buffer_[512];
};

Code to_code(hbf_status status) noexcept; // values that are not in the list are internal

} // namespace hbf::fabric
