// SPDX-License-Identifier: Apache-2.0
// Blocks out of a cold log, for one thread at a time: all parts of one writing, each held against its checksum.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "core/engine/blocks/cold_logs.hpp"
#include "core/engine/migration/pool.hpp"

namespace hbf::kv {

class ColdReader {
public:
    struct Piece {
        Identity key;
        uint64_t number = 0; // of the writing
        uint32_t parts = 0;
        // Where the bytes and their checksums are until the next call. UNAVAILABLE: not all of that writing is there any
        // more. DATA_LOSS: it is damaged. Other codes: it could not be tried.
        Spot there;
        Result<> outcome;
    };

    // Its memory comes from `cpu`, a pool that the CPU reaches, when it is first needed. `longest`: bytes of a block.
    ColdReader(TierPool &cpu, uint64_t longest) : cpu_(cpu), room_(std::max<uint64_t>(longest, 2 << 20)) {}
    ~ColdReader();
    ColdReader(const ColdReader &) = delete;
    ColdReader &operator=(const ColdReader &) = delete;

    // All parts at once, as many as the disk takes. Together they have at most most_parts().
    void fetch(const ColdLog &log, std::span<Piece> pieces);
    uint32_t most_parts() const { return static_cast<uint32_t>(room_ / granule_size); }
    Result<Spot> fetch(const ColdLog &log, const Identity &key, uint64_t number, uint32_t parts);

private:
    Result<cold::Reader *> ready(const ColdLog &log, uint64_t bytes);

    TierPool &cpu_;
    const uint64_t room_;
    RegionInfo memory_;
    uint64_t offset_ = 0; // of the first whole page
    std::vector<uint32_t> crc_;
    std::vector<std::pair<const ColdLog *, std::unique_ptr<cold::Reader>>> readers_;
};

} // namespace hbf::kv
