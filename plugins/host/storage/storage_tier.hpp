// SPDX-License-Identifier: Apache-2.0
// The storage tier: preallocated files in one directory (or a block device), read and written by io_uring with O_DIRECT.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "hbf/abi/tier.h"
#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/log.hpp"

namespace hbf::host {

struct StorageOptions {
    std::string path;       // directory or block device
    uint64_t capacity = 0;  // bytes, 0: a quarter of what is free there, at most 64 GiB
    bool direct = true;     // O_DIRECT wanted; where refused the tier says so and goes on buffered
    bool uring = true;      // io_uring wanted; where refused the tier says so and goes on with pread/pwrite
    bool overwrite = false; // a block device that holds data may be taken; what it held is lost
};

// One region's storage. Opaque to the queue; alive while the queue holds a reference.
class StorageFile {
public:
    virtual ~StorageFile() = default; // an unnamed file disappears
    virtual uint64_t size() const = 0;
    // Named files: writes back to the medium and gives the file its name; until then no file of that name exists, so a
    // half-written one never does. Unnamed files: nothing. Throws sdk::Failure. [any thread, no write in flight]
    virtual void publish() = 0;
};

struct IoResult {
    uint64_t tag = 0;
    hbf_status status = HBF_OK;     // DATA_LOSS short read or missing tail, EXHAUSTED disk full, DEVICE_LOST, PERMISSION
    uint64_t offset = HBF_NO_PLACE; // in the file, where it went wrong
    std::string message;            // empty on success: no allocation
};

// One queue's path to storage. [one thread at a time] Memory may be unaligned; alignment and splitting are handled here.
class StorageChannel {
public:
    virtual ~StorageChannel() = default; // waits for I/O in flight
    virtual bool has_room() const = 0;   // another read or write can be begun now
    virtual void read(StorageFile &file, uint64_t offset, std::byte *dst, uint64_t size, uint64_t tag) = 0;
    virtual void write(StorageFile &file, uint64_t offset, const std::byte *src, uint64_t size, uint64_t tag) = 0;
    virtual void kick() = 0; // hands everything begun to the kernel
    // Finished I/Os. Blocks up to timeout_ns for the first one, 0: never.
    virtual size_t reap(std::span<IoResult> out, uint64_t timeout_ns) = 0;
    virtual size_t in_flight() const = 0;
};

class StorageTier {
public:
    // Throws sdk::Failure: UNAVAILABLE (no such path), INVALID (neither directory nor block device), PERMISSION (others
    // could write there), BUSY (another process holds it).
    static std::unique_ptr<StorageTier> open(const StorageOptions &options, const sdk::Log &log);
    virtual ~StorageTier() = default;
    virtual void describe(hbf_tier_info &out) const = 0;
    // Preallocated, mode 0600. EXHAUSTED when the disk is full; earlier files stay intact. A name is new (else INVALID) or,
    // with open_existing, there (else UNAVAILABLE) and at least `size` long (else DATA_LOSS at its end). [any thread]
    virtual std::shared_ptr<StorageFile> create(uint64_t size, const std::string &name, bool open_existing) = 0;
    // `depth` reads and writes at once. [any thread]
    virtual std::unique_ptr<StorageChannel> create_channel(uint32_t depth) = 0;
    // Buffers in this range may be registered with the kernel, up to the memlock limit; how much was is in describe's
    // detail.
    virtual void register_memory(std::byte *address, uint64_t size) = 0;
    virtual void unregister_memory(std::byte *address) noexcept = 0;
};

} // namespace hbf::host
