// SPDX-License-Identifier: Apache-2.0
// The storage tier on a whole block device: regions are ranges of it and have no names.
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "channel_tier.hpp"
#include "extents.hpp"
#include "fd.hpp"

namespace hbf::host {

class BlockTier final : public ChannelTier {
public:
    BlockTier(const StorageOptions &options, const sdk::Log &log, const StorageInternals &internals);

    void describe(hbf_tier_info &out) const override;
    std::shared_ptr<StorageFile> create(uint64_t size, const std::string &name, bool open_existing) override;

private:
    struct Device { // shared with the files, which may outlive the tier
        std::string path;
        Fd fd;
        Alignment alignment;
        std::mutex mutex;
        Extents extents{0, 0};
    };
    class BlockFile;

    std::shared_ptr<Device> device_ = std::make_shared<Device>();
    std::string refusal_; // why not O_DIRECT
    uint64_t capacity_ = 0;
    int numa_node_ = -1;
};

} // namespace hbf::host
