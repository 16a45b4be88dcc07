// SPDX-License-Identifier: Apache-2.0
// The logs (core/engine/cold) that are a cache's cold tier: one a tenant, in a folder of its own below one root. A block's
// bytes stand there in parts of 64 KiB under its identity; all parts of one writing have its number as their generation, so
// that parts of two writings never pass for a block.
//
// A log may ask the cache what is pinned, which takes the cache's lock: nothing here is called under that lock, but for what
// says so.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/engine/cold/log.hpp"

namespace hbf::kv {

// One tenant's.
class ColdLog {
public:
    // The number of the writing under which all `parts` of `block` are there; 0: they are not.
    uint64_t find(const Identity &block, uint32_t parts) const;
    // The same, if these are their checksums.
    uint64_t find_same(const Identity &block, uint32_t parts, const uint32_t *crc) const;
    // On the medium when commit() has returned. DATA_LOSS: the bytes are not those of the checksums.
    Result<> append(const Identity &block, uint64_t number, uint32_t parts, const std::byte *bytes, const uint32_t *crc);
    Result<> commit();
    Result<> remove(const Identity &block, uint32_t parts);

    // [also under the cache's lock] Bytes that count on this log, as the cache says, and how many at most may.
    std::atomic<uint64_t> held{0};
    uint64_t most_held = 0;
    std::atomic<uint64_t> used{0}; // as of the last commit

    std::unique_ptr<cold::Log> log;
};

class ColdLogs {
public:
    static constexpr uint32_t most_tenants = 127; // numbers of tenants that may have a log are below it

    struct Options {
        std::filesystem::path root; // has to be there
        cold::Owner owner;          // of a log of no tenant
        uint64_t bytes = 0;         // of all logs together; 0: half of what is free, with what they have
        uint32_t tenants = 1;       // logs, each of an equal share
        bool wipe = false;          // no log is left: the one used longest ago is overwritten, not in use by anybody
        std::function<bool(const Identity &block)> pinned;
        const cold::Calls *calls = nullptr; // tests
    };
    // With the log of the tenant "", number 0. Errors as of cold::Log::open.
    static Result<std::unique_ptr<ColdLogs>> open(const Options &options);
    explicit ColdLogs(Options options) : options_(std::move(options)) {}

    // Opens the tenant's log, if that was not done. Without a log is a tenant for whom none is left: a note says so.
    Result<> open_tenant(uint16_t number, std::string_view tenant);
    // [also under the cache's lock] nullptr: it has none.
    ColdLog *of(uint16_t tenant) const {
        return tenant < most_tenants ? logs_[tenant].load(std::memory_order_acquire) : nullptr;
    }
    // [also under the cache's lock] Of a writing; never 0, never the same within 37 bits of a random begin.
    uint64_t next_number();

    uint64_t bytes() const { return options_.bytes; }
    uint64_t used() const, held() const; // [also under the cache's lock]
    cold::LogStats stats(uint32_t &logs) const;
    std::vector<std::string> notes() const;
    bool had_blocks() const { return had_blocks_; } // when it was opened

private:
    Result<std::filesystem::path> place_for(const cold::Owner &owner);
    Result<> wipe_one(const std::vector<std::filesystem::path> &others, const std::filesystem::path &to,
                      const cold::Owner &owner);

    Options options_;
    std::atomic<ColdLog *> logs_[most_tenants] = {};
    std::atomic<uint64_t> number_{0};
    std::atomic<bool> had_blocks_{false};

    mutable std::mutex mutex_; // below
    std::vector<std::unique_ptr<ColdLog>> owned_;
    std::vector<bool> tried_;
    std::vector<std::string> notes_;
};

} // namespace hbf::kv
