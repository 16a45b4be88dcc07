// SPDX-License-Identifier: Apache-2.0
// Commands to and from storage, as reads and writes in flight on the queue's channel. Storage to storage goes through two
// bounce buffers, one read while the other is written.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "../storage/storage_tier.hpp"
#include "slots.hpp"

namespace hbf::host {

// [driver] One thread at a time.
class StorageWork {
public:
    static constexpr uint32_t operations = 64;

    explicit StorageWork(StorageTier &storage);

    // Begins the command from byte `begun` on, which moves, as far as there is room. True: all of it has begun.
    bool begin(Slot &slot, const Command &command, uint64_t &begun);
    // Whether the command must not overtake what is in flight for other values.
    bool conflicts(const Slot &slot, const Command &command) const;
    // Hands what has begun to the kernel.
    void kick();
    // Takes in what has finished, waiting up to timeout_ns for the first. True if there was something.
    bool collect(uint64_t timeout_ns);
    uint32_t in_flight() const noexcept { return live_; }

private:
    enum class Stage { free, read, write, bounce_read, bounce_full, bounce_write };
    struct Operation {
        Stage stage = Stage::free;
        Slot *slot = nullptr;
        const Command *command = nullptr;
        uint64_t from = 0, size = 0; // in the command
        int buffer = -1;
    };
    struct FreeAligned {
        void operator()(std::byte *memory) const noexcept;
    };
    using Buffer = std::unique_ptr<std::byte, FreeAligned>;

    bool begin_one(Slot &slot, const Command &command, uint64_t from, uint64_t size);
    void write_full();
    void finished(Operation &operation, IoResult &result);
    void release(Operation &operation);
    static void checksum(const Command &command, uint64_t from, const std::byte *bytes, uint64_t size);

    std::unique_ptr<StorageChannel> channel_;
    std::array<Operation, operations> operations_{};
    std::array<Buffer, 2> buffers_;
    std::array<bool, 2> taken_{};
    std::vector<IoResult> results_;
    uint32_t live_ = 0, full_ = 0; // operations in use; of them, bounce buffers ready to be written
    bool begun_ = false;           // something to kick
};

} // namespace hbf::host
