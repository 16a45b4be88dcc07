// SPDX-License-Identifier: Apache-2.0
// Keys, values and queries as long contexts have them, made up: passages whose keys resemble each other, channels in which
// all keys lie off to one side, single tokens that one query alone asks for (needles), and queries of three kinds.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace hbf::kv::testing {

enum class Query { peaked, mixed, diffuse };
inline constexpr Query all_queries[] = {Query::peaked, Query::mixed, Query::diffuse};
inline const char *name_of(Query kind) {
    return kind == Query::peaked ? "peaked" : kind == Query::mixed ? "mixed" : "diffuse";
}

// One KV head of one layer.
class Scene {
public:
    static constexpr uint32_t passage = 512; // tokens
    static constexpr uint32_t off_channels = 4;

    Scene(uint32_t dim, uint64_t seed, float offset) : dim_(dim), seed_(seed), offset_(offset) {}

    // Of a token, dim numbers each; the same each time.
    void key(uint32_t token, float *out) const {
        numbers(1 + token / passage, 0.8f, out);
        add(1'000'000 + token, 0.6f, out);
        for (uint32_t i = 0; i < off_channels; ++i) out[i * (dim_ / off_channels)] += offset_;
    }
    void value(uint32_t token, float *out) const { numbers(2'000'000'000ull + token, 1.0f, out); }

    // `number` tells queries apart. A peaked one asks for `needle`, a mixed one for its passage.
    void query(Query kind, uint64_t number, uint32_t needle, float *out) const {
        numbers(4'000'000'000ull + number, kind == Query::diffuse ? 0.5f : 0.3f, out);
        if (kind == Query::peaked) { // as its key without the offset, and longer
            add(1 + needle / passage, 0.8f, out);
            add(1'000'000 + needle, 3.6f, out);
        } else if (kind == Query::mixed) {
            add(1 + needle / passage, 1.2f, out);
        }
        for (uint32_t i = 0; i < off_channels; ++i) out[i * (dim_ / off_channels)] += offset_ / 2;
    }

private:
    // Nearly normal, from a counter: four bytes of a hash added up.
    float number(uint64_t stream, uint32_t i) const {
        uint64_t x = seed_ * 0x9e3779b97f4a7c15ull + stream * 0xbf58476d1ce4e5b9ull + i;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
        x = (x ^ x >> 27) * 0x94d049bb133111ebull;
        x ^= x >> 31;
        int sum = 0;
        for (int byte = 0; byte < 8; ++byte) sum += static_cast<int>(x >> 8 * byte & 255);
        return static_cast<float>(sum - 1020) * (1 / 209.0f);
    }
    void numbers(uint64_t stream, float size, float *out) const {
        for (uint32_t i = 0; i < dim_; ++i) out[i] = size * number(stream, i);
    }
    void add(uint64_t stream, float size, float *out) const {
        for (uint32_t i = 0; i < dim_; ++i) out[i] += size * number(stream, i);
    }

    uint32_t dim_;
    uint64_t seed_;
    float offset_;
};

} // namespace hbf::kv::testing
