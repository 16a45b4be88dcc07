// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/verdict.hpp"

#include <array>

namespace hbf::conformance {
namespace {

constexpr std::array<std::string_view, 16> names = {
    "pass",  "fail",  "not_supported", "not_observable", "inconclusive", "warn_quality",   "warn_capability", "waived",
    "xfail", "xpass", "crash",         "timeout",        "device_lost",  "internal_error", "not_run",         "interrupted"};
static_assert(names.size() == static_cast<size_t>(Status::interrupted) + 1);

} // namespace

std::string_view to_string(Status status) {
    const auto index = static_cast<size_t>(status);
    return index < names.size() ? names[index] : "internal_error";
}

Status status_from(std::string_view text) {
    for (size_t i = 0; i < names.size(); ++i)
        if (names[i] == text) return static_cast<Status>(i);
    return Status::internal_error;
}

bool conformant(Status status) {
    switch (status) {
    case Status::pass:
    case Status::not_supported:
    case Status::not_observable:
    case Status::warn_quality:
    case Status::warn_capability:
    case Status::waived:
    case Status::xfail:
        return true;
    default:
        return false;
    }
}

bool failed(Status status) {
    switch (status) {
    case Status::fail:
    case Status::crash:
    case Status::timeout:
    case Status::device_lost:
    case Status::internal_error:
    case Status::xpass:
        return true;
    default:
        return false;
    }
}

} // namespace hbf::conformance
