// SPDX-License-Identifier: Apache-2.0
// What tests put in place of the kernel.
#pragma once

#include "engine.hpp"
#include "io_calls.hpp"
#include "pieces.hpp"
#include "storage_tier.hpp"

namespace hbf::host {

struct StorageInternals {
    EngineFactory engine; // instead of io_uring or threads; the tier is then not degraded by its engine
    IoCalls calls = system_io;
    PieceLimits limits;
    bool nameless_files = true; // false: as on a file system without O_TMPFILE
};

std::unique_ptr<StorageTier> open_storage(const StorageOptions &options, const sdk::Log &log,
                                          const StorageInternals &internals);

} // namespace hbf::host
