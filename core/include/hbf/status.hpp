// SPDX-License-Identifier: Apache-2.0
// Errors of the C++ API: the ABI's codes, a sentence, and where there is one, a place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "hbf/abi/basic.h"
#include "hbf/export.hpp"

namespace hbf {

enum class Code : int32_t {
    ok = HBF_OK,
    unavailable = HBF_UNAVAILABLE,
    unsupported = HBF_UNSUPPORTED,
    permission = HBF_PERMISSION,
    exhausted = HBF_EXHAUSTED,
    busy = HBF_BUSY,
    timeout = HBF_TIMEOUT,
    cancelled = HBF_CANCELLED,
    device_lost = HBF_DEVICE_LOST,
    data_loss = HBF_DATA_LOSS,
    invalid = HBF_INVALID,
    internal = HBF_INTERNAL,
};

HBF_API std::string_view to_string(Code code) noexcept; // "data_loss"

inline constexpr uint64_t no_place = HBF_NO_PLACE;

struct Error {
    Code code = Code::internal;
    std::string message;        // names the file or value and, where there is one, the remedy
    uint64_t offset = no_place; // byte offset in the region (or file) where it happened
    std::string place = {};     // which region, tier or file the offset counts in
};

template <class T = void>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(Code code, std::string message, uint64_t offset = no_place, std::string place = {}) {
    return tl::unexpected<Error>(Error{code, std::move(message), offset, std::move(place)});
}

} // namespace hbf
