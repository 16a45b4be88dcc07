// SPDX-License-Identifier: Apache-2.0
// The storage tier on a directory.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "channels.hpp"
#include "direct_probe.hpp"
#include "directory.hpp"
#include "medium.hpp"
#include "storage_internals.hpp"

namespace hbf::host {

class DirectoryTier final : public StorageTier {
public:
    DirectoryTier(const StorageOptions &options, const sdk::Log &log, const StorageInternals &internals);

    void describe(hbf_tier_info &out) const override;
    std::shared_ptr<StorageFile> create(uint64_t size, const std::string &name, bool open_existing) override;
    std::unique_ptr<StorageChannel> create_channel(uint32_t depth) override { return channels_.create(depth); }
    void register_memory(std::byte *address, uint64_t size) override { channels_.register_memory(address, size); }
    void unregister_memory(std::byte *address) noexcept override { channels_.unregister_memory(address); }

private:
    // Bytes of files that do not have a name yet. Files may outlive the tier, so they share it.
    struct Pending {
        std::mutex mutex;
        uint64_t bytes = 0;
    };
    class Reservation;

    std::shared_ptr<StorageFile> create_new(uint64_t size, const std::string &name);
    std::shared_ptr<StorageFile> open_named(uint64_t size, const std::string &name);
    uint64_t used() const;
    uint64_t free_on_disk() const;
    int direct_flag() const;
    uint64_t granule() const;

    std::shared_ptr<Directory> directory_;
    Channels channels_;
    DirectProbe direct_;
    Medium medium_;
    bool blocks_told_ = false;
    uint64_t capacity_ = 0;
    uint64_t block_size_ = 4096; // of the file system
    std::shared_ptr<Pending> pending_ = std::make_shared<Pending>();
};

} // namespace hbf::host
