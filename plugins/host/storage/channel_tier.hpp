// SPDX-License-Identifier: Apache-2.0
// What all storage tiers share: their regions are reached through channels.
#pragma once

#include <memory>

#include "channels.hpp"
#include "storage_internals.hpp"

namespace hbf::host {

class ChannelTier : public StorageTier {
public:
    std::unique_ptr<StorageChannel> create_channel(uint32_t depth) override { return channels_.create(depth); }
    void register_memory(std::byte *address, uint64_t size) override { channels_.register_memory(address, size); }
    void unregister_memory(std::byte *address) noexcept override { channels_.unregister_memory(address); }

protected:
    ChannelTier(const StorageOptions &options, const sdk::Log &log, const StorageInternals &internals)
        : channels_(options, log, internals) {}

    Channels channels_;
};

} // namespace hbf::host
