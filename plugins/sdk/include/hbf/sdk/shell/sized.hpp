// SPDX-License-Identifier: Apache-2.0
// Structs that know their size: nothing is read or written past what the host's struct_size covers, and a struct is
// refused only below its frozen minimum.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "hbf/abi/basic.h"
#include "hbf/sdk/failure.hpp"

namespace hbf::sdk::shell {

template <class T>
bool usable(const T *in, uint32_t min_size) noexcept {
    return in && in->struct_size >= min_size;
}

// A full-sized copy, zero where the host's struct ends.
template <class T>
T read(const T &in) noexcept {
    static_assert(std::is_trivially_copyable_v<T>);
    T copy{};
    std::memcpy(&copy, &in, std::min<size_t>(in.struct_size, sizeof(T)));
    copy.struct_size = sizeof(T);
    return copy;
}

// Fills what the host's struct has room for. Its struct_size, and any tail this SDK does not know, stay as they are.
template <class T>
void write(T &out, const T &value) noexcept {
    static_assert(std::is_trivially_copyable_v<T> && offsetof(T, struct_size) == 0);
    constexpr size_t head = sizeof(out.struct_size);
    const size_t size = std::min<size_t>(out.struct_size, sizeof(T));
    if (size > head)
        std::memcpy(reinterpret_cast<std::byte *>(&out) + head, reinterpret_cast<const std::byte *>(&value) + head,
                    size - head);
}

template <size_t N>
void terminate(char (&text)[N]) noexcept {
    text[N - 1] = '\0';
}

// The host's array of sized structs, walked by its stride.
template <class T>
class OutArray {
public:
    OutArray(T *first, uint64_t stride, uint32_t capacity) : first_(first), stride_(stride), capacity_(capacity) {}

    // Throws INVALID unless each element can be written.
    void check(uint32_t min_size, const char *what) const {
        if (capacity_ == 0) return;
        if (!first_) fail(HBF_INVALID, std::string(what) + " is NULL but its capacity is not 0");
        if (stride_ < min_size || stride_ % 8 != 0)
            fail(HBF_INVALID, std::string(what) + ": stride " + std::to_string(stride_) + " is under " +
                                  std::to_string(min_size) + " or not a multiple of 8");
        for (uint32_t i = 0; i < capacity_; ++i)
            if (at(i).struct_size < min_size || at(i).struct_size > stride_)
                fail(HBF_INVALID, std::string(what) + ": struct_size of element " + std::to_string(i) + " is " +
                                      std::to_string(at(i).struct_size) + ", not within " + std::to_string(min_size) +
                                      " and the stride");
    }
    void write(const std::vector<T> &values) const {
        const size_t count = std::min<size_t>(values.size(), capacity_);
        for (size_t i = 0; i < count; ++i) shell::write(at(i), values[i]);
    }

private:
    T &at(uint64_t index) const { return *reinterpret_cast<T *>(reinterpret_cast<std::byte *>(first_) + index * stride_); }

    T *first_;
    uint64_t stride_;
    uint32_t capacity_;
};

inline std::string_view view(const hbf_string &in, const char *what) {
    if (!in.data && in.size != 0) fail(HBF_INVALID, std::string(what) + " is NULL but its size is not 0");
    return {in.size ? in.data : "", in.size};
}

} // namespace hbf::sdk::shell
