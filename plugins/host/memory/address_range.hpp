// SPDX-License-Identifier: Apache-2.0
// A range of address space that is given back unless it is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "memory/page_kind.hpp"

namespace hbf::host {

// [body, size bytes][guard, one base page that nobody may touch]. The guard keeps the kernel from merging neighbouring
// regions into one area, whose page sizes could then not be told apart, and turns an overrun into a fault.
class AddressRange {
public:
    // `size` is a multiple of the base page, for pool pages of kind.page. Untouched: no memory is taken yet, save that pool
    // pages are set aside. Throws sdk::Failure: EXHAUSTED, or UNAVAILABLE when the pool of large pages is too small.
    AddressRange(uint64_t size, uint64_t alignment, const PageKind &kind);
    ~AddressRange();
    AddressRange(const AddressRange &) = delete;
    AddressRange &operator=(const AddressRange &) = delete;

    std::byte *body() const { return body_; }
    uint64_t size() const { return size_; }
    uint64_t mapped() const { return size_ + base_page_size(); } // what to unmap at body()
    void keep() { body_ = nullptr; }

private:
    std::byte *body_ = nullptr;
    uint64_t size_ = 0;
};

} // namespace hbf::host
