// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "attention.hpp"
#include "sketch.hpp"

namespace hbf::kernels {
namespace {

// The smallest number of a stored kind that is not below x >= 0.
double rounded_up(double x, uint32_t element, uint32_t &bits) {
    const int digits = element == HBF_ELEMENT_FP16 ? 11 : element == HBF_ELEMENT_BF16 ? 8 : 24;
    const int least = element == HBF_ELEMENT_FP16 ? -14 : -126; // exponent of the smallest normal number
    bits = 0;
    if (x == 0) return 0;
    const int unit = std::max(std::ilogb(x), least) - (digits - 1);
    const double up = std::ldexp(std::ceil(std::ldexp(x, -unit)), unit);
    if (element == HBF_ELEMENT_FP16) {
        const int exponent = std::max(std::ilogb(up), least);
        bits = static_cast<uint32_t>(std::ldexp(up, 10 - exponent)) + (static_cast<uint32_t>(exponent + 14) << 10);
    } else {
        const float narrow = static_cast<float>(up);
        std::memcpy(&bits, &narrow, sizeof bits);
        if (element == HBF_ELEMENT_BF16) bits >>= 16;
    }
    return up;
}

// One channel of a KV head: its range, and a code for each token.
class Channel {
public:
    Channel(const device::sketch_shape &shape, const uint8_t *block, uint32_t kv_head, uint32_t channel, uint32_t tokens)
        : shape_(shape), block_(block), first_(device::kv_key_index(shape.kv, kv_head, 0, channel)) {
        double most = 0;
        for (uint32_t token = 0; token < tokens; ++token) {
            const double key = this->key(token);
            known_ = known_ && std::isfinite(key);
            if (token == 0 || key < low_) low_ = key, low_token_ = token;
            if (token == 0 || key > most) most = key;
        }
        if (!known_) return;
        step_ = rounded_up((most - low_) / codes(), shape.kv.element, step_bits_);
        for (uint32_t token = 0; token < tokens; ++token) // of what cannot be represented: the next step is enough
            while (distance(token) > step_ / 2)
                step_ = rounded_up(std::nextafter(step_, std::numeric_limits<double>::max()), shape.kv.element, step_bits_);
    }

    void write_range(uint8_t *range, uint32_t channel, uint32_t tokens) const {
        const uint32_t size = device::hbf_element_size(shape_.kv.element), dim = shape_.kv.head_dim;
        uint32_t low = 0, step = step_bits_;
        if (tokens && known_) std::memcpy(&low, block_ + size * index(low_token_), size); // little-endian, as all we run on
        if (!known_)
            step = shape_.kv.element == HBF_ELEMENT_FP16   ? 0x7c00u
                   : shape_.kv.element == HBF_ELEMENT_BF16 ? 0x7f80u
                                                           : 0x7f800000u;
        std::memcpy(range + size * channel, &low, size);
        std::memcpy(range + size * (dim + channel), &step, size);
    }

    uint32_t code(uint32_t token) const {
        if (!known_ || step_ == 0) return 0;
        return static_cast<uint32_t>(std::min(std::nearbyint((key(token) - low_) / step_), codes()));
    }

private:
    double codes() const { return static_cast<double>((1u << shape_.bits) - 1); }
    uint64_t index(uint32_t token) const { return first_ + device::kv_key_index(shape_.kv, 0, token, 0); }
    double key(uint32_t token) const {
        return static_cast<double>(device::hbf_load_element(block_, shape_.kv.element, index(token)));
    }
    double distance(uint32_t token) const { return std::fabs(key(token) - low_ - code(token) * step_); }

    const device::sketch_shape &shape_;
    const uint8_t *block_;
    uint64_t first_;
    bool known_ = true;
    double low_ = 0, step_ = 0;
    uint32_t low_token_ = 0, step_bits_ = 0;
};

} // namespace

const char *sketch_refused(const device::sketch_shape &shape) noexcept {
    if (const char *reason = attention_refused(shape.kv)) return reason;
    return device::sketch_shape_refused(shape) ? "bits must be 2, 4 or 8" : nullptr;
}

bool sketch_make(const device::sketch_shape &shape, const void *block, uint32_t tokens, void *sketch) noexcept {
    if (device::sketch_shape_refused(shape) || tokens > shape.kv.block_tokens) return false;
    std::memset(sketch, 0, device::sketch_block_size(shape));
    const uint32_t in_word = 32 / shape.bits;
    for (uint32_t kv_head = 0; kv_head < shape.kv.kv_heads; ++kv_head) {
        auto *const range = static_cast<uint8_t *>(sketch) + kv_head * device::sketch_head_size(shape);
        uint8_t *const codes = range + device::sketch_range_size(shape);
        for (uint32_t i = 0; i < shape.kv.head_dim; ++i) {
            const Channel channel(shape, static_cast<const uint8_t *>(block), kv_head, i, tokens);
            channel.write_range(range, i, tokens);
            for (uint32_t token = 0; token < tokens; ++token) {
                uint8_t *const at = codes + 4 * device::sketch_word_index(shape, token, i);
                const uint32_t word = hbf_load32(at) | channel.code(token) << (i % in_word * shape.bits);
                hbf_store32(at, word);
            }
        }
    }
    return true;
}

} // namespace hbf::kernels
