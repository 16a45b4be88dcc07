// SPDX-License-Identifier: Apache-2.0
// The words that all rooms of the engine share: the public ones, and how an identity is hashed.
#pragma once

#include <cstring>
#include <functional>

#include "hbf/kv_types.hpp"

namespace hbf::kv {

struct IdentityHash {
    size_t operator()(const Identity &identity) const noexcept {
        size_t word = 0; // a digest's bytes are as good as any hash of them
        std::memcpy(&word, identity.bytes.data(), sizeof word);
        return word;
    }
};

} // namespace hbf::kv

template <>
struct std::hash<hbf::kv::Identity> : hbf::kv::IdentityHash {};
