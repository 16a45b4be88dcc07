// SPDX-License-Identifier: Apache-2.0
// Which versions of the ABI a plugin built with these headers serves: the same table under each version's number, since
// what came after a version only added to it.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "hbf/abi/plugin.h"

namespace hbf::sdk::shell {

// Raised when a minor of 0.x breaks (docs/abi-policy.md); a new major raises it to itself.
inline constexpr uint32_t oldest_served = HBF_ABI_MAKE(0, 1);

// The highest version that both sides know, 0 if there is none.
constexpr uint32_t common_version(uint32_t host_min, uint32_t host_max, uint32_t plugin_min) noexcept {
    const uint32_t highest = std::min<uint32_t>(host_max, HBF_ABI_VERSION);
    return highest >= std::max(host_min, plugin_min) ? highest : 0;
}

// `table`, once for each version from `oldest` on.
template <uint32_t oldest>
constexpr auto for_each_version(hbf_plugin table) noexcept {
    static_assert(oldest <= HBF_ABI_VERSION && HBF_ABI_MAJOR_OF(oldest) == HBF_ABI_MAJOR_OF(HBF_ABI_VERSION),
                  "a plugin serves versions of one major, up to that of its headers");
    std::array<hbf_plugin, HBF_ABI_VERSION - oldest + 1> tables{};
    for (uint32_t version = oldest; version <= HBF_ABI_VERSION; ++version) {
        table.abi_version = version;
        tables[version - oldest] = table;
    }
    return tables;
}

} // namespace hbf::sdk::shell
