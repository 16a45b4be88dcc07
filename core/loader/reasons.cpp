// SPDX-License-Identifier: Apache-2.0
// The closed lists of stages and reasons as words.
#include "core/loader/reasons.hpp"

#include <algorithm>
#include <array>

namespace hbf {
namespace {

constexpr std::array stage_words = {"found", "manifest", "policy", "trust", "static_check", "probe", "rank", "open"};

constexpr std::array reason_words = {
    "selected",      "outranked",     "denied_by_config", "not_in_allow_list", "untrusted_path",     "manifest_invalid",
    "wrong_arch",    "not_a_plugin",  "abi_too_old",      "abi_too_new",       "sanitizer_mismatch", "missing_dependency",
    "driver_absent", "driver_stub",   "driver_too_old",   "permission_denied", "no_device",          "device_busy",
    "probe_failed",  "probe_crashed", "probe_timeout",    "create_failed",     "duplicate_name",
};
static_assert(reason_words.size() == static_cast<size_t>(Reason::duplicate_name) + 1);
static_assert(stage_words.size() == static_cast<size_t>(Stage::open) + 1);

} // namespace

std::string_view to_string(Stage stage) noexcept {
    const auto index = static_cast<size_t>(stage);
    return index < stage_words.size() ? stage_words[index] : "unknown";
}

std::string_view to_string(Reason reason) noexcept {
    const auto index = static_cast<size_t>(reason);
    return index < reason_words.size() ? reason_words[index] : "unknown";
}

namespace loader {

std::optional<Reason> reason_from(std::string_view word) noexcept {
    const auto found = std::find(reason_words.begin(), reason_words.end(), word);
    if (found == reason_words.end()) return std::nullopt;
    return static_cast<Reason>(found - reason_words.begin());
}

} // namespace loader
} // namespace hbf
