// SPDX-License-Identifier: Apache-2.0
// A region: what commands name, and what the CPU sees of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "hbf/sdk/region_table.hpp"
#include "plugins/opencl/context.hpp"

namespace hbf::opencl {

enum class Sort : uint8_t {
    device,     // a buffer; the CPU sees nothing
    mapped,     // a buffer, and pinned memory of the host beside it: flush and invalidate carry bytes from one to the other
    svm,        // memory that device and CPU share
    registered, // the caller's memory: commands read and write it directly, there is no buffer
};

// Shared virtual memory, freed.
class SvmBlock {
public:
    SvmBlock(const Context &context, uint64_t size); // throws
    SvmBlock(const SvmBlock &) = delete;
    SvmBlock &operator=(const SvmBlock &) = delete;
    ~SvmBlock();
    std::byte *at() const { return static_cast<std::byte *>(at_); }

private:
    const Context &context_;
    void *at_ = nullptr;
};

// A buffer of the host's that stays mapped, as long as it lives.
class PinnedBlock {
public:
    PinnedBlock(Context &context, uint64_t size); // throws
    PinnedBlock(const PinnedBlock &) = delete;
    PinnedBlock &operator=(const PinnedBlock &) = delete;
    ~PinnedBlock();
    std::byte *at() const { return static_cast<std::byte *>(at_); }

private:
    Context &context_;
    OwnedBuffer buffer_;
    void *at_ = nullptr;
};

struct Region {
    Sort sort = Sort::device;
    uint32_t tier = HBF_TIER_NONE;
    uint64_t size = 0, bytes = 0; // usable; rounded up to the granule
    uint64_t taken = 0;           // of the tier
    std::byte *address = nullptr; // the CPU's; nullptr for `device`
    uint64_t base = 0;            // of the region's first byte in `buffer`
    std::optional<SvmBlock> svm;  // ends after `buffer`
    std::optional<PinnedBlock> pinned;
    OwnedBuffer buffer; // nullptr for `registered`
};

using Regions = sdk::RegionTable<std::unique_ptr<Region>>;

} // namespace hbf::opencl
