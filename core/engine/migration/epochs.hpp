// SPDX-License-Identifier: Apache-2.0
// When the last reader has gone on: epoch-based reclamation. A reader announces the epoch it began in; what was unpublished
// in an epoch is free when every reader inside began later. Readers never lock and never wait.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace hbf::kv {

class Epochs {
public:
    Epochs() = default;
    ~Epochs();
    Epochs(const Epochs &) = delete;
    Epochs &operator=(const Epochs &) = delete;

    // A reader's place, for one thread at a time.
    class alignas(64) Reader {
    public:
        // Everything loaded (seq_cst) between these two stays readable until leave. Not nested.
        void enter() noexcept { inside_.store(epochs_->now_.load(std::memory_order_seq_cst), std::memory_order_seq_cst); }
        void leave() noexcept { inside_.store(0, std::memory_order_release); }

    private:
        friend class Epochs;
        std::atomic<uint64_t> inside_{0}; // 0: outside
        std::atomic<bool> taken_{false};
        Epochs *epochs_ = nullptr;
    };

    Reader &take(); // allocates when all places are taken; bad_alloc
    static void give_back(Reader &reader) noexcept;

    // After something was unpublished (seq_cst): the epoch it belongs to. [any thread]
    uint64_t retire() noexcept { return now_.fetch_add(1, std::memory_order_seq_cst); }
    // No reader is left that began in this epoch or before. [any thread]
    bool passed(uint64_t epoch) const noexcept;

private:
    static constexpr size_t per_chunk = 32;
    struct Chunk {
        std::array<Reader, per_chunk> readers;
        Chunk *next = nullptr;
    };
    std::atomic<uint64_t> now_{1};
    std::atomic<Chunk *> chunks_{nullptr};
};

// Enters for a scope.
class Reading {
public:
    explicit Reading(Epochs::Reader &reader) noexcept : reader_(reader) { reader_.enter(); }
    ~Reading() { reader_.leave(); }
    Reading(const Reading &) = delete;
    Reading &operator=(const Reading &) = delete;

private:
    Epochs::Reader &reader_;
};

} // namespace hbf::kv
