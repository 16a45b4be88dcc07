// SPDX-License-Identifier: Apache-2.0
// What NAME_sample in a kernel's file fills: the buffers and arguments of one launch.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

namespace hbf::kernels::device {

struct Sample {
    std::vector<std::vector<uint8_t>> buffers; // in the kernel's order
    std::vector<uint8_t> argument_bytes;

    // A buffer each.
    void random(uint64_t size) {
        for (auto &byte : added(size)) byte = static_cast<uint8_t>(next());
    }
    void zeros(uint64_t size) { added(size); }
    void list(std::initializer_list<uint32_t> words) {
        memcpy(added(4 * words.size()).data(), words.begin(), 4 * words.size());
    }
    void reals(uint64_t count) { // fp32 between -1 and 1
        auto &bytes = added(4 * count);
        for (uint64_t i = 0; i < count; ++i) {
            const float value = static_cast<float>(static_cast<int32_t>(next())) * 0x1p-31f;
            memcpy(&bytes[4 * i], &value, 4);
        }
    }
    void halves(uint64_t count) { // fp16 from 2^-3 to 2, of either sign
        auto &bytes = added(2 * count);
        for (uint64_t i = 0; i < count; ++i) {
            const uint32_t bits = next();
            const auto value = static_cast<uint16_t>((bits & 0x83ff) | (12 + (bits >> 10 & 3)) << 10);
            memcpy(&bytes[2 * i], &value, 2);
        }
    }

    template <class Arguments>
    void arguments(const Arguments &value) {
        argument_bytes.resize(sizeof value);
        memcpy(argument_bytes.data(), &value, sizeof value);
    }

private:
    std::vector<uint8_t> &added(uint64_t size) { return buffers.emplace_back(size); }
    uint32_t next() {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<uint32_t>(state_ >> 32);
    }
    uint64_t state_ = 1;
};

} // namespace hbf::kernels::device
