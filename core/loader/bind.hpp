// SPDX-License-Identifier: Apache-2.0
// From an opened library to its checked base table: the same steps in the probe process and in the host.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "core/loader/reasons.hpp"
#include "hbf/abi/plugin.h"

namespace hbf::loader {

inline constexpr uint32_t host_abi_min = HBF_ABI_MAKE(0, 1), host_abi_max = HBF_ABI_VERSION;

std::string abi_text(uint32_t version); // "0.1"
uint32_t host_sanitizer() noexcept;     // HBF_SANITIZER_* this code was built with
std::string_view sanitizer_name(uint32_t kind) noexcept;

// What a failed dlopen means, from its message.
Refusal refusal_of_dlerror(std::string_view message);

// The entry function of a dlopen handle, if it is this very library's own and no dependency's.
tl::expected<hbf_plugin_query_fn, Refusal> entry_of(void *handle);

// Asks for the table and checks it: version, size, name, functions, sanitizer.
tl::expected<const hbf_plugin *, Refusal> query_table(hbf_plugin_query_fn query, std::string_view expected_name);

} // namespace hbf::loader
