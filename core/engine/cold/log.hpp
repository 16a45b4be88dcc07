// SPDX-License-Identifier: Apache-2.0
// The cold tier: a log of KV granules in segments on storage. One Log writes it; Readers of it, and Views in other
// processes, read it. What `commit` has returned for is there after any crash; what is read is what was written, or an
// error.
//
//   auto log = Log::open({.folder = path, .owner = {model, layout}, .capacity = 1ull << 40});
//   auto ticket = (*log)->append({block, part}, generation, bytes);
//   (*log)->commit(*ticket);                      // one fdatasync for all that was appended until now, by anybody
//   auto reader = (*log)->make_reader(32);
//
// Full, it makes room by itself: segments of which half is no longer needed are compacted, else the oldest one goes, except
// for what was read since it was written, or what `wanted` asks to keep, and never what is `pinned`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/engine/cold/calls.hpp"
#include "core/engine/cold/folder.hpp"
#include "core/engine/cold/format.hpp"
#include "core/engine/cold/reader.hpp"

namespace hbf::kv::cold {

// `ROOT/model-0123456789ab-layout-0123456789ab-tenant-...`: each model, layout and tenant has a log of its own.
std::filesystem::path folder_of(const std::filesystem::path &root, const Owner &owner);

struct LogOptions {
    std::filesystem::path folder; // this log's own; made if it is not there, its parent has to be
    Owner owner;
    uint64_t capacity = 0; // bytes on the medium, never exceeded; at least three segments
    // Multiple of 4 KiB, 1 MiB to 1 GiB; of an existing log the same. 0: what that has, else 1 to 64 MiB by the capacity.
    uint64_t segment_bytes = 64 << 20;
    bool wipe_other_tenant = false;   // what another tenant left is overwritten; else it is refused
    bool direct = true, uring = true; // O_DIRECT and io_uring are wanted; notes() says where they are not had
    // When the oldest segment has to go: keep this granule? Called with the log locked. None: if it was read lately.
    std::function<bool(const Key &key)> wanted;
    // Somebody counts on this granule: it stays, and appending is EXHAUSTED where nothing else can go. Called as `wanted`.
    std::function<bool(const Key &key)> pinned;
    const Calls *calls = nullptr; // tests; outlives the log
};

struct Found {
    uint32_t length = 0; // bytes
    uint64_t generation = 0;
    uint32_t crc = 0; // CRC-32C of them
};

struct LogStats {
    uint64_t granules = 0, live_bytes = 0, used_bytes = 0; // what can be read; with padding; segments on the medium
    uint32_t segments = 0;
    uint64_t appended = 0, appended_bytes = 0, commits = 0, moved = 0, evicted = 0, removed = 0;
    uint64_t reads = 0, read_bytes = 0, misses = 0, reread = 0, lost = 0;
    uint64_t torn_batches = 0, damaged_batches = 0, unreadable_segments = 0, refused_growths = 0;
};

// Up to where the log has to be on the medium for what was just appended to be.
using Ticket = uint64_t;

class Log {
public:
    // INVALID: an option, or the log of another model, layout, tenant. BUSY: another process or engine writes it.
    // PERMISSION, EXHAUSTED, UNAVAILABLE: as the message says. Recovers what an earlier writer left.
    static Result<std::unique_ptr<Log>> open(const LogOptions &options);
    ~Log(); // commits; call close() to learn whether that went well
    Log(const Log &) = delete;
    Log &operator=(const Log &) = delete;

    // [any thread] Copies `bytes`, 1 to 64 KiB. They are found from the commit on, in the stead of any older ones of that
    // key. EXHAUSTED: no room can be made. DATA_LOSS: the bytes are not those of `crc`, and nothing was appended. After an
    // error of the medium all later calls give that error; reading goes on.
    Result<Ticket> append(const Key &key, uint64_t generation, std::span<const std::byte> bytes,
                          std::optional<uint32_t> crc = std::nullopt);
    // [any thread] Not found from now on, and after a crash from the commit on.
    Result<Ticket> remove(const Key &key);
    // [any thread] Waits until everything up to `ticket` (none: everything appended) is on the medium. Callers that wait
    // together share one fdatasync.
    Result<> commit(std::optional<Ticket> ticket = std::nullopt);
    Result<> close(); // commits; later calls are INVALID

    std::optional<Found> find(const Key &key) const;                  // [any thread]
    Result<std::unique_ptr<Reader>> make_reader(uint32_t depth = 32); // outlives neither this log nor its folder

    // Overwrites every byte and hands the log to `tenant`. BUSY: others read it. On a file system that copies on write, or a
    // disk that does, older copies may stay on the medium.
    Result<> wipe(const Identity &tenant);

    uint64_t segment_bytes() const;
    LogStats stats() const;
    std::vector<std::string> notes() const; // what is not as wanted, what was found damaged

private:
    class Writer;
    explicit Log(std::unique_ptr<Writer> writer);
    std::unique_ptr<Writer> writer_;
};

} // namespace hbf::kv::cold
