// SPDX-License-Identifier: Apache-2.0
#include "channels.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "pinned_buffers.hpp"
#include "thread_engine.hpp"
#include "uring_engine.hpp"

namespace hbf::host {
namespace {

// Pieces in flight: enough that one large transfer keeps a fast device busy, bounded where the queue is deep.
uint32_t engine_capacity(uint32_t depth) {
    return std::bit_ceil(std::clamp(depth, 32u, 256u));
}

std::string mebibytes(uint64_t bytes) {
    return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1 << 20));
}

} // namespace

// A channel that leaves the list when it ends.
class Channels::Member final : public Channel {
public:
    Member(Channels &owner, std::unique_ptr<Engine> its_engine, uint32_t depth)
        : Channel(std::move(its_engine), depth, owner.internals_.calls, owner.internals_.limits), owner_(owner) {
        std::lock_guard lock(owner_.mutex_);
        try {
            owner_.engines_.push_back(&engine());
            for (auto [address, size] : owner_.memory_)
                owner_.pinned_[{&engine(), address}] = engine().add_buffer(address, size);
        } catch (...) {
            leave();
            throw;
        }
    }
    ~Member() override {
        std::lock_guard lock(owner_.mutex_);
        leave();
    }

private:
    void leave() noexcept {
        owner_.engines_.remove(&engine());
        std::erase_if(owner_.pinned_, [&](const auto &entry) { return entry.first.first == &engine(); });
    }

    Channels &owner_;
};

Channels::Channels(const StorageOptions &options, const sdk::Log &log, const StorageInternals &internals)
    : internals_(internals), log_(log) {
    if (internals_.engine) return;
    if (!options.uring) {
        refusal_ = "io_uring is switched off by option";
    } else {
        try {
            make_uring_engine(1);
            uring_ = true;
        } catch (const sdk::Failure &failure) {
            refusal_ = failure.message;
        }
    }
    if (!refusal_.empty()) log.warning("storage: " + refusal_ + "; reading and writing with threads");
}

std::unique_ptr<Engine> Channels::make_engine(uint32_t capacity) const {
    if (internals_.engine) return internals_.engine(capacity);
    if (uring_) {
        try {
            return make_uring_engine(capacity);
        } catch (const sdk::Failure &failure) {
            // To the kernel a ring is locked memory, of which this user's other rings and buffers may hold all there is.
            if (failure.status != HBF_EXHAUSTED) throw;
            log_.warning("storage: " + failure.message + "; this queue reads and writes with threads");
        }
    }
    return make_thread_engine(capacity, internals_.calls);
}

std::unique_ptr<StorageChannel> Channels::create(uint32_t depth) {
    if (depth == 0) sdk::fail(HBF_INVALID, "a storage channel of depth 0");
    return std::make_unique<Member>(*this, make_engine(engine_capacity(depth)), depth);
}

void Channels::register_memory(std::byte *address, uint64_t size) {
    std::lock_guard lock(mutex_);
    if (!memory_.emplace(address, size).second) return; // registered twice: the first stands
    for (Engine *engine : engines_) pinned_[{engine, address}] = engine->add_buffer(address, size);
}

void Channels::unregister_memory(std::byte *address) noexcept {
    std::lock_guard lock(mutex_);
    if (memory_.erase(address) == 0) return;
    for (Engine *engine : engines_) {
        engine->remove_buffer(address);
        pinned_.erase({engine, address});
    }
}

std::string Channels::detail() const {
    if (!refusal_.empty()) return "threads with pread and pwrite: " + refusal_;
    std::lock_guard lock(mutex_);
    uint64_t asked = 0, pinned = 0;
    for (auto [address, size] : memory_) asked += size * engines_.size();
    for (const auto &entry : pinned_) pinned += entry.second;
    if (asked == 0) return "io_uring";
    return fmt::format("io_uring, {} of {} registered in {} queues (at most {} each)", mebibytes(pinned), mebibytes(asked),
                       engines_.size(), mebibytes(pinned_limit()));
}

} // namespace hbf::host
