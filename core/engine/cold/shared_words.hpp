// SPDX-License-Identifier: Apache-2.0
// What the writer of a log tells readers in other processes, in a page of the log file that all of them map. It says nothing
// that has to survive: who opens as writer sets it anew from what is on the medium.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <sys/mman.h>

#include "core/engine/cold/format.hpp"

namespace hbf::kv::cold {

inline constexpr uint32_t most_segments = 65536;

struct SharedWords {
    std::atomic<uint64_t> writer_pid{0}, durable{0}; // the last batch that is on the medium
    std::array<uint64_t, 6> unused{};
    // The life each segment is in. Changed before its bytes are: bytes read between two equal looks were of that life.
    std::array<std::atomic<uint64_t>, most_segments> sequences;
};
static_assert(std::atomic<uint64_t>::is_always_lock_free && sizeof(SharedWords) == 64 + 8 * most_segments);

inline constexpr uint64_t log_file_size = page_size + whole_pages(sizeof(SharedWords));

// The words, mapped from the log file, which has its full size on the medium.
class SharedMap {
public:
    SharedMap() = default;
    SharedMap(int fd, bool writable) {
        void *memory = mmap(nullptr, sizeof(SharedWords), writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd,
                            static_cast<off_t>(page_size));
        if (memory != MAP_FAILED) words_ = static_cast<SharedWords *>(memory);
    }
    SharedMap(SharedMap &&other) noexcept : words_(std::exchange(other.words_, nullptr)) {}
    SharedMap &operator=(SharedMap &&other) noexcept {
        std::swap(words_, other.words_);
        return *this;
    }
    ~SharedMap() {
        if (words_) munmap(words_, sizeof(SharedWords));
    }
    explicit operator bool() const { return words_ != nullptr; }
    SharedWords *operator->() const { return words_; }

private:
    SharedWords *words_ = nullptr;
};

} // namespace hbf::kv::cold
