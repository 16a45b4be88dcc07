// SPDX-License-Identifier: Apache-2.0
// The storage tier on a directory.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "channel_tier.hpp"
#include "direct_probe.hpp"
#include "directory.hpp"
#include "medium.hpp"

namespace hbf::host {

class DirectoryTier final : public ChannelTier {
public:
    DirectoryTier(const StorageOptions &options, const sdk::Log &log, const StorageInternals &internals);

    void describe(hbf_tier_info &out) const override;
    std::shared_ptr<StorageFile> create(uint64_t size, const std::string &name, bool open_existing) override;

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
    DirectProbe direct_;
    Medium medium_;
    bool blocks_told_ = false;
    uint64_t capacity_ = 0;
    uint64_t block_size_ = 4096; // of the file system
    std::shared_ptr<Pending> pending_ = std::make_shared<Pending>();
};

} // namespace hbf::host
