// SPDX-License-Identifier: Apache-2.0
// What a channel needs of one region's storage: where it is, how it must be addressed, and what of it is gone.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "alignment.hpp"
#include "io_calls.hpp"
#include "storage_tier.hpp"

namespace hbf::host {

struct FileShape {
    int fd = -1;         // a derived class keeps it open
    uint64_t base = 0;   // where the region starts in fd; a multiple of the alignment
    uint64_t size = 0;   // bytes, as asked for
    uint64_t stored = 0; // bytes held for it: size rounded up to the alignment
    Alignment alignment;
    std::string label; // for messages: "/data/hbf/name", "unnamed file in /data/hbf"
};

// Told without fail: what goes wrong while I/O is in flight must reach its end also where no memory is left for words.
struct IoProblem {
    hbf_status status = HBF_INTERNAL;
    uint64_t offset = 0; // in the region
    std::string message;
};

class File : public StorageFile {
public:
    uint64_t size() const override { return shape_.size; }
    const FileShape &shape() const { return shape_; }

    // [any thread] Bytes from here on are gone; UINT64_MAX: none. Once lost, lost until the region is freed.
    uint64_t lost_from() const { return lost_from_.load(std::memory_order_acquire); }

    // [any thread] Looks whether the file still holds all its bytes. A write beyond the end of a truncated file would
    // fill the gap with zeros and hide the loss, so this comes before it.
    void look() noexcept;
    IoProblem came_to_nothing(bool write, uint64_t offset) noexcept; // there the kernel moved no byte and named no error

    // [any thread] Writes part of one block by reading it, changing it and writing it back; one at a time for a file, so
    // that neighbours in a block do not undo each other. `scratch` is an aligned block.
    std::optional<IoProblem> merge(const IoCalls &calls, uint64_t offset, const std::byte *data, uint64_t size,
                                   std::byte *scratch) noexcept;

    IoProblem missing_tail(uint64_t offset) const noexcept; // of an I/O that begins at `offset`, once lost_from says so
    IoProblem problem(bool write, uint64_t offset, int error) const noexcept;
    IoProblem outside(uint64_t offset, uint64_t size) const noexcept;

protected:
    explicit File(FileShape shape) : shape_(std::move(shape)) {}
    // Bytes the file still holds from its start, as far as can be told cheaply.
    virtual uint64_t bytes_held() const noexcept { return shape_.stored; }

private:
    const FileShape shape_;
    std::atomic<uint64_t> lost_from_{UINT64_MAX};
    std::mutex merging_;
};

} // namespace hbf::host
