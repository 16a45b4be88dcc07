// SPDX-License-Identifier: Apache-2.0
#include "hbf/status.hpp"

#include <cstring>

#include <fmt/format.h>

#include "core/fabric/abi_error.hpp"

namespace hbf {

std::string_view to_string(Code code) noexcept {
    switch (code) {
    case Code::ok:
        return "ok";
    case Code::unavailable:
        return "unavailable";
    case Code::unsupported:
        return "unsupported";
    case Code::permission:
        return "permission";
    case Code::exhausted:
        return "exhausted";
    case Code::busy:
        return "busy";
    case Code::timeout:
        return "timeout";
    case Code::cancelled:
        return "cancelled";
    case Code::device_lost:
        return "device_lost";
    case Code::data_loss:
        return "data_loss";
    case Code::invalid:
        return "invalid";
    case Code::internal:
        return "internal";
    }
    return "internal";
}

namespace fabric {

Code to_code(hbf_status status) noexcept {
    return status >= HBF_OK && status <= HBF_INTERNAL ? static_cast<Code>(status) : Code::internal;
}

Error AbiError::to_error(hbf_status status, const std::string &what) const {
    const Code code = to_code(status);
    std::string text = raw_.length != 0 ? std::string(buffer_, strnlen(buffer_, sizeof(buffer_)))
                                        : fmt::format("{} without a message", to_string(code));
    if (code == Code::internal && status != HBF_INTERNAL) text += fmt::format(" (status {})", status);
    return Error{code, what.empty() ? std::move(text) : what + ": " + text, raw_.offset, {}};
}

} // namespace fabric
} // namespace hbf
