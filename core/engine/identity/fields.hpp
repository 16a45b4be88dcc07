// SPDX-License-Identifier: Apache-2.0
// SHA-256 over tagged, length-prefixed fields. SHA-256 is nettle's, which uses the CPU's instructions where there are some.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <nettle/sha2.h>

#include "core/engine/types.hpp"

namespace hbf::kv {

static_assert(std::endian::native == std::endian::little, "digests are over little-endian numbers");

// What a field is. Each goes in as tag (4 bytes), length (8 bytes), bytes: two lists of fields that differ in anything, be
// it only where one field ends and the next begins, are different inputs. Numbers are never given to another field.
enum class Field : uint32_t {
    domain = 1, // what the digest is of, first in each
    parent = 2,
    model = 3,
    layout = 4,
    tenant = 5,
    tokens = 6,
    extra = 7,
    model_name = 16,
    weights = 17,
    adapter = 18,
    positions = 19,
    element = 32,
    layers = 33,
    kv_heads = 34,
    head_size = 35,
    shard = 36,
    shards = 37,
    arrangement = 38,
};

// Copyable: what many digests begin with is hashed once. Nothing here allocates or fails.
class Fields {
public:
    explicit Fields(std::string_view domain) noexcept {
        sha256_init(&state_);
        add(Field::domain, domain);
    }

    Fields &add(Field field, std::span<const std::byte> bytes) noexcept {
        const uint32_t tag = static_cast<uint32_t>(field);
        const uint64_t length = bytes.size();
        update(&tag, sizeof tag);
        update(&length, sizeof length);
        update(bytes.data(), bytes.size());
        return *this;
    }
    Fields &add(Field field, std::string_view text) noexcept { return add(field, std::as_bytes(std::span(text))); }
    Fields &add(Field field, const Identity &identity) noexcept {
        return add(field, std::as_bytes(std::span(identity.bytes)));
    }
    Fields &add(Field field, std::span<const uint32_t> numbers) noexcept { return add(field, std::as_bytes(numbers)); }
    Fields &add(Field field, uint64_t number) noexcept { return add(field, std::as_bytes(std::span(&number, 1))); }

    Identity digest() const noexcept {
        sha256_ctx state = state_;
        Identity identity;
        sha256_digest(&state, identity.bytes.size(), identity.bytes.data());
        return identity;
    }

private:
    void update(const void *data, size_t size) noexcept {
        if (size > 0) sha256_update(&state_, size, static_cast<const uint8_t *>(data));
    }

    sha256_ctx state_;
};

} // namespace hbf::kv
