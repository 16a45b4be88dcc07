// SPDX-License-Identifier: Apache-2.0
#include "storage_tier.hpp"

#include <sys/stat.h>

#include "block_tier.hpp"
#include "directory_tier.hpp"
#include "storage_internals.hpp"

namespace hbf::host {

std::unique_ptr<StorageTier> open_storage(const StorageOptions &options, const sdk::Log &log,
                                          const StorageInternals &internals) {
    struct stat info{};
    if (::stat(options.path.c_str(), &info) == 0 && S_ISBLK(info.st_mode))
        return std::make_unique<BlockTier>(options, log, internals);
    return std::make_unique<DirectoryTier>(options, log, internals);
}

std::unique_ptr<StorageTier> StorageTier::open(const StorageOptions &options, const sdk::Log &log) {
    return open_storage(options, log, {});
}

} // namespace hbf::host
