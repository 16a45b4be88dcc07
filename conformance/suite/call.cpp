// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/call.hpp"

#include <algorithm>
#include <array>

namespace hbf::conformance {

std::string_view status_name(hbf_status status) {
    static constexpr std::array<std::string_view, 12> names = {
        "HBF_OK",      "HBF_UNAVAILABLE", "HBF_UNSUPPORTED", "HBF_PERMISSION", "HBF_EXHAUSTED", "HBF_BUSY",
        "HBF_TIMEOUT", "HBF_CANCELLED",   "HBF_DEVICE_LOST", "HBF_DATA_LOSS",  "HBF_INVALID",   "HBF_INTERNAL"};
    return status >= 0 && static_cast<size_t>(status) < names.size() ? names[static_cast<size_t>(status)]
                                                                     : "an unknown status";
}

std::string to_string(const Call &call) {
    std::string out(status_name(call.status));
    if (!call.message.empty()) out += ": " + call.message;
    return out;
}

Call ErrorBuffer::call(hbf_status status) const {
    Call out;
    out.status = status;
    if (status == HBF_OK) return out;
    // The plugin may have written anything: look no further than our own buffer.
    const auto end = std::find(std::begin(text_), std::end(text_), '\0');
    out.message.assign(std::begin(text_), end);
    out.region = error_.region;
    out.offset = error_.offset;
    return out;
}

} // namespace hbf::conformance
