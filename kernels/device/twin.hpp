// SPDX-License-Identifier: Apache-2.0
// The host's side of portable.h: a kernel's source as C++, its work-items run one after the other.
#pragma once

#include <cstdint>
#include <cstring>

namespace hbf::kernels::device {

// A range of memory that a kernel is given. The address is of its first byte, a multiple of 8.
struct TwinBuffer {
    void *address;
    uint64_t size; // bytes
};

// A group within its launch.
struct TwinGroup {
    uint32_t index, count; // groups
    uint32_t size;         // work-items
};

} // namespace hbf::kernels::device

#define HBF_DEVICE_BEGIN namespace hbf::kernels::device {
#define HBF_DEVICE_END }
#define HBF_FUNCTION inline
#define HBF_PURE constexpr
#define HBF_GLOBAL
#define HBF_LOCAL

inline void hbf_local_add(uint32_t *at, uint32_t value) {
    *at += value;
}
inline void hbf_local_xor(uint32_t *at, uint32_t value) {
    *at ^= value;
}
inline uint64_t hbf_load64(const uint8_t *at) {
    uint64_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
}
inline uint32_t hbf_load32(const uint8_t *at) {
    uint32_t value;
    std::memcpy(&value, at, sizeof value);
    return value;
}
inline void hbf_store64(uint8_t *at, uint64_t value) {
    std::memcpy(at, &value, sizeof value);
}
inline void hbf_store32(uint8_t *at, uint32_t value) {
    std::memcpy(at, &value, sizeof value);
}

#define HBF_TWIN_BUFFER(i) (static_cast<uint8_t *>(buffers[i].address))
#define HBF_TWIN_BUFFERS_1 HBF_TWIN_BUFFER(0)
#define HBF_TWIN_BUFFERS_2 HBF_TWIN_BUFFERS_1, HBF_TWIN_BUFFER(1)
#define HBF_TWIN_BUFFERS_3 HBF_TWIN_BUFFERS_2, HBF_TWIN_BUFFER(2)
#define HBF_TWIN_BUFFERS_4 HBF_TWIN_BUFFERS_3, HBF_TWIN_BUFFER(3)
#define HBF_TWIN_BUFFERS_5 HBF_TWIN_BUFFERS_4, HBF_TWIN_BUFFER(4)
#define HBF_TWIN_BUFFERS_6 HBF_TWIN_BUFFERS_5, HBF_TWIN_BUFFER(5)

// What catalogue.cpp takes of a kernel: NAME_twin. Group memory begins with bytes that no kernel may rely on.
#define HBF_KERNEL(name, n)                                                                                                 \
    struct name##_twin {                                                                                                    \
        using Arguments = name##_arguments;                                                                                 \
        static constexpr uint32_t buffer_count = (n), local_size = 0;                                                       \
        static void run(const TwinBuffer *buffers, const Arguments &arguments, const TwinGroup &group) {                    \
            for (uint32_t id = 0; id < group.size; ++id)                                                                    \
                name##_item({id, group.size, group.index, group.count}, HBF_TWIN_BUFFERS_##n, arguments);                   \
        }                                                                                                                   \
    };

#define HBF_PHASED_KERNEL(name, n)                                                                                          \
    struct name##_twin {                                                                                                    \
        using Arguments = name##_arguments;                                                                                 \
        static constexpr uint32_t buffer_count = (n), local_size = sizeof(name##_local);                                    \
        static void run(const TwinBuffer *buffers, const Arguments &arguments, const TwinGroup &group) {                    \
            name##_local shared;                                                                                            \
            std::memset(static_cast<void *>(&shared), 0xA5, sizeof shared);                                                 \
            const uint32_t phases = name##_phases({0, group.size, group.index, group.count}, arguments);                    \
            for (uint32_t phase = 0; phase < phases; ++phase)                                                               \
                for (uint32_t id = 0; id < group.size; ++id)                                                                \
                    name##_phase(phase, {id, group.size, group.index, group.count}, HBF_TWIN_BUFFERS_##n, arguments,        \
                                 &shared);                                                                                  \
        }                                                                                                                   \
    };
