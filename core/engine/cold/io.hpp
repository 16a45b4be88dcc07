// SPDX-License-Identifier: Apache-2.0
// Several positioned reads or writes at once: by io_uring, or, where that is refused, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/engine/cold/calls.hpp"

namespace hbf::kv::cold {

struct IoRequest {
    int fd = -1;
    bool write = false;
    std::byte *data = nullptr;
    uint32_t size = 0;
    uint64_t offset = 0;
    uint32_t id = 0; // below depth(), one request at a time
};
struct IoDone {
    uint32_t id = 0;
    int error = 0; // errno; 0: all of it was moved
};

class Io { // [one thread at a time]
public:
    virtual ~Io() = default; // nothing in flight any more
    virtual uint32_t depth() const = 0;
    virtual void begin(const IoRequest &request) = 0; // at most depth() not yet finished
    // What is done; waits for one if `wait` and something is in flight.
    virtual size_t finish(std::span<IoDone> done, bool wait) = 0;

    bool one_by_one() const { return !why_.empty(); }
    const std::string &why() const { return why_; } // it goes one after the other

protected:
    std::string why_;
};

// `uring` false: one after the other. `calls`: only of the latter, and for what the kernel moved in part.
std::unique_ptr<Io> make_io(uint32_t depth, bool uring, const Calls &calls);

} // namespace hbf::kv::cold
