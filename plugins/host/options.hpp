// SPDX-License-Identifier: Apache-2.0
// What the host plugin can be told, from the strings a host hands to create.
#pragma once

#include <string>
#include <string_view>

#include "hbf/sdk/plugin.hpp"
#include "memory/memory_tier.hpp"
#include "storage/storage_tier.hpp"

namespace hbf::host {

struct HostOptions {
    MemoryOptions memory;
    StorageOptions storage; // path "" : the default directory
    unsigned workers = 0;   // copy workers, 0: the pool's choice
};

// Throws sdk::Failure INVALID naming key, value and remedy; an unknown key comes with the nearest known one.
HostOptions parse_options(const sdk::Options &options, const std::string &system_root);

// "4096", "8GiB", "500MB", "1.5TiB". Throws sdk::Failure INVALID.
uint64_t parse_size(std::string_view key, std::string_view text);

} // namespace hbf::host
