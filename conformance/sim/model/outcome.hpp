// SPDX-License-Identifier: Apache-2.0
// How anything that the machine does may end. An emulated runtime turns each into its vendor's own code.
#pragma once

#include <cstdint>
#include <string_view>

#include "conformance/sim/model/export.hpp"

namespace hbf::model {

enum class Outcome : uint8_t {
    ok,
    pending,         // not finished yet: queries, and waits whose time ran out
    invalid,         // an argument that no machine would take: size 0, overlap of registrations, bad alignment
    no_memory,       // the device or the host has none left
    unknown_address, // nothing lies there: never allocated, or freed since
    out_of_range,    // begins inside a block and leaves it
    no_access,       // memory of another device that this one may not reach, or host memory that no device was shown
    uncorrectable,   // the bytes are known to be bad (ECC)
    link_error,      // a link gave up on the transfer
    launch_failed,   // a kernel died
    unsupported,     // this device has no such ability
    busy,            // still in use: work in flight that the operation does not wait for
    lost,            // the device is gone
    failed,          // anything else that the device says went wrong, injected
};

HBF_MODEL_API std::string_view to_string(Outcome outcome) noexcept; // "out_of_range"

inline bool is_error(Outcome outcome) noexcept {
    return outcome != Outcome::ok && outcome != Outcome::pending;
}
// What breaks a device for good on hardware that has sticky errors.
inline bool is_fatal(Outcome outcome) noexcept {
    return outcome == Outcome::unknown_address || outcome == Outcome::out_of_range || outcome == Outcome::no_access ||
           outcome == Outcome::uncorrectable || outcome == Outcome::launch_failed || outcome == Outcome::lost;
}

} // namespace hbf::model
