// SPDX-License-Identifier: Apache-2.0
// Memory that O_DIRECT can read into and write from, on large pages where it is large.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include <sys/mman.h>

#include "core/engine/cold/format.hpp"

namespace hbf::kv::cold {

class Pages {
public:
    Pages() = default;
    explicit Pages(size_t size) : size_(whole_pages(size)) { // throws std::bad_alloc
        void *memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        data_ = static_cast<std::byte *>(memory);
        (void)madvise(memory, size_, MADV_HUGEPAGE);
        (void)madvise(memory, size_, MADV_DONTFORK); // the kernel may be writing into it while another process is made
    }
    Pages(Pages &&other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Pages &operator=(Pages &&other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Pages() {
        if (data_) munmap(data_, size_);
    }

    std::byte *data() const { return data_; }
    size_t size() const { return size_; }
    template <class Page>
    Page &as(size_t offset = 0) const {
        return *reinterpret_cast<Page *>(data_ + offset);
    }

private:
    std::byte *data_ = nullptr;
    size_t size_ = 0;
};

} // namespace hbf::kv::cold
