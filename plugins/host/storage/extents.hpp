// SPDX-License-Identifier: Apache-2.0
// Which ranges of a block device are taken. First fit; neighbours that become free are one again.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace hbf::host {

class Extents {
public:
    Extents(uint64_t begin, uint64_t size) : free_bytes_(size) {
        if (size) free_[begin] = size;
    }

    std::optional<uint64_t> take(uint64_t size) { // empty: no gap is large enough
        for (auto gap = free_.begin(); gap != free_.end(); ++gap) {
            auto [begin, length] = *gap;
            if (length < size) continue;
            if (length > size) free_[begin + size] = length - size;
            free_.erase(gap);
            free_bytes_ -= size;
            return begin;
        }
        return std::nullopt;
    }

    void give(uint64_t begin, uint64_t size) {
        free_bytes_ += size;
        auto next = free_.upper_bound(begin);
        if (next != free_.begin()) {
            auto before = std::prev(next);
            if (before->first + before->second == begin) {
                begin = before->first;
                size += before->second;
                free_.erase(before);
            }
        }
        if (next != free_.end() && begin + size == next->first) {
            size += next->second;
            free_.erase(next);
        }
        free_[begin] = size;
    }

    uint64_t free_bytes() const { return free_bytes_; }
    uint64_t largest_gap() const {
        uint64_t largest = 0;
        for (auto [begin, length] : free_)
            if (length > largest) largest = length;
        return largest;
    }

private:
    std::map<uint64_t, uint64_t> free_; // begin -> length
    uint64_t free_bytes_;
};

} // namespace hbf::host
