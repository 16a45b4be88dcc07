// SPDX-License-Identifier: Apache-2.0
// Memory that tells who reaches past its end: it ends where a page without access begins. The first access there is noted,
// the page is opened, and the access goes on, so that a case can say what was touched and by how much, and not just crash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <type_traits>

namespace hbf::conformance {

// Made and ended by the case's own thread; touched by any.
class GuardedBytes {
public:
    explicit GuardedBytes(size_t size); // zeroed; ends at the guard page
    ~GuardedBytes();
    GuardedBytes(const GuardedBytes &) = delete;
    GuardedBytes &operator=(const GuardedBytes &) = delete;
    std::byte *data() const { return data_; }
    size_t size() const { return size_; }
    std::optional<uint64_t> touched() const; // bytes from the end to the first access past it

private:
    size_t size_, pages_, slot_;
    std::byte *data_;
};

// A struct of the ABI as a host that knows only its first `size` bytes has it.
template <class T>
class Shortened {
    static_assert(std::is_trivially_copyable_v<T>);

public:
    Shortened(const T &from, size_t size) : bytes_(size) {
        std::memcpy(bytes_.data(), &from, size < sizeof(T) ? size : sizeof(T));
        get()->struct_size = static_cast<uint32_t>(size);
    }
    T *get() const { return reinterpret_cast<T *>(bytes_.data()); }
    std::optional<uint64_t> touched() const { return bytes_.touched(); }
    T value() const { // the rest zero
        T out{};
        std::memcpy(&out, bytes_.data(), bytes_.size() < sizeof(T) ? bytes_.size() : sizeof(T));
        return out;
    }

private:
    GuardedBytes bytes_;
};

// Bytes of a tail that a plugin built with newer headers than this suite may know, and fill. Subject sets it, once.
inline size_t tail_known = 0;

// A struct of the ABI as a later version would have it: with a tail that no plugin of today has heard of.
template <class T>
struct Extended {
    static constexpr unsigned char tail_byte = 0xa5;
    T known{};
    unsigned char tail[64];

    Extended() {
        std::memset(tail, tail_byte, sizeof tail);
        known.struct_size = sizeof(Extended);
    }
    bool tail_untouched() const {
        for (size_t i = tail_known; i < sizeof tail; ++i)
            if (tail[i] != tail_byte) return false;
        return true;
    }
};

} // namespace hbf::conformance
