// SPDX-License-Identifier: Apache-2.0
// One call across the ABI: its status, and the error buffer that goes with it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hbf/abi/basic.h"

namespace hbf::conformance {

struct Call {
    hbf_status status = HBF_OK;
    std::string message;
    uint64_t region = 0, offset = HBF_NO_PLACE;
    bool ok() const { return status == HBF_OK; }
};
std::string_view status_name(hbf_status status); // "HBF_EXHAUSTED"; "an unknown status" otherwise
std::string to_string(const Call &call);         // "HBF_EXHAUSTED: no room for ..."

// The caller's buffer for the time of one call:  ErrorBuffer e;  return e.call(table.free(instance, region, e));
class ErrorBuffer {
public:
    ErrorBuffer() {
        error_.struct_size = sizeof error_;
        error_.message = text_;
        error_.capacity = sizeof text_;
        error_.offset = HBF_NO_PLACE;
    }
    ErrorBuffer(const ErrorBuffer &) = delete;
    ErrorBuffer &operator=(const ErrorBuffer &) = delete;
    operator hbf_error *() { return &error_; }
    Call call(hbf_status status) const;

private:
    char text_[1024] = {};
    hbf_error error_{};
};

} // namespace hbf::conformance
