// SPDX-License-Identifier: Apache-2.0
// The channels of one tier: which engine they get, and the memory registered with all of them.
#pragma once

#include <list>
#include <map>
#include <mutex>
#include <string>

#include "channel.hpp"
#include "storage_internals.hpp"

namespace hbf::host {

class Channels {
public:
    // Finds out whether io_uring serves; where it does not, says so in the log and in detail(). A channel that gets no ring
    // later, because this user may lock no more memory, reads and writes with threads and says so in the log.
    Channels(const StorageOptions &options, const sdk::Log &log, const StorageInternals &internals);

    std::unique_ptr<StorageChannel> create(uint32_t depth);
    void register_memory(std::byte *address, uint64_t size);
    void unregister_memory(std::byte *address) noexcept;

    bool degraded() const { return !refusal_.empty(); }
    std::string detail() const; // "io_uring, 8 of 64 MiB registered in 2 queues (memlock limit 8 MiB)"

private:
    class Member;

    std::unique_ptr<Engine> make_engine(uint32_t capacity) const;

    const StorageInternals internals_;
    const sdk::Log log_;
    bool uring_ = false;
    std::string refusal_;      // why not io_uring
    mutable std::mutex mutex_; // all below
    std::list<Engine *> engines_;
    std::map<std::byte *, uint64_t> memory_;
    std::map<std::pair<Engine *, std::byte *>, uint64_t> pinned_;
};

} // namespace hbf::host
