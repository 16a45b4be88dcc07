// SPDX-License-Identifier: Apache-2.0
// A small model over a fake device: rows that follow from token and layer, so that every byte that is read can be judged.
#pragma once

#include <numeric>

#include "core/fabric/testing/fixture.hpp"
#include "hbf/kv.hpp"

namespace hbf::kv {

using namespace hbf::testing;

class CacheTest : public FabricTest {
protected:
    static constexpr uint32_t cold = hbf::testing::cold;              // the tier; the cold logs are a namespace here
    static constexpr uint32_t dim = 16, heads = 2, row = dim * heads; // numbers

    CacheOptions small(uint64_t hbm_blocks = 64, uint64_t hbf_blocks = 256) {
        CacheOptions options;
        options.model.layers = 2;
        options.model.query_heads = 4;
        options.model.kv_heads = heads;
        options.model.head_dim = dim;
        options.model.element = Element::fp32;
        options.settings.kv.chunk_size = 16;
        options.background = false;
        options.deadline = std::chrono::seconds(20);
        options.hbm = Place{device, dram, hbm_blocks * granule_size};
        if (hbf_blocks != 0) options.hbf = Place{device, vram, hbf_blocks * granule_size};
        return options;
    }

    static std::vector<uint32_t> tokens(uint32_t first, uint32_t count) {
        std::vector<uint32_t> all(count);
        std::iota(all.begin(), all.end(), first);
        return all;
    }
    static float number(uint32_t token, uint32_t position, uint32_t layer, uint32_t i, bool key) {
        const uint32_t mixed =
            (token * 2654435761u) ^ (position * 40503u) ^ (layer << 20) ^ (i * 97u) ^ (key ? 1u << 30 : 0u);
        return static_cast<float>(static_cast<int32_t>(mixed % 2000) - 1000) / 500.0f;
    }
    static std::vector<float> rows(std::span<const uint32_t> of, uint64_t position, uint32_t layer, bool key) {
        std::vector<float> all;
        for (size_t t = 0; t < of.size(); ++t)
            for (uint32_t i = 0; i < row; ++i)
                all.push_back(number(of[t], static_cast<uint32_t>(position + t), layer, i, key));
        return all;
    }
    // `same_layers`: every layer has the rows of layer 0.
    static Result<> write(Sequence &sequence, std::span<const uint32_t> of, uint32_t layers = 2, bool same_layers = false) {
        const uint64_t at = sequence.tokens();
        if (auto begun = sequence.append(of); !begun) return begun;
        for (uint32_t layer = 0; layer < layers; ++layer) {
            const uint32_t as = same_layers ? 0 : layer;
            const auto keys = rows(of, at, as, true), values = rows(of, at, as, false);
            if (auto done = sequence.put(layer, std::as_bytes(std::span(keys)), std::as_bytes(std::span(values))); !done) {
                must(sequence.truncate(at));
                return done;
            }
        }
        return {};
    }
    // Every row is the one that belongs there. What is wrong, "" if nothing.
    static std::string check(Sequence &sequence, std::span<const uint32_t> of, uint32_t layers = 2,
                             bool same_layers = false) {
        for (uint32_t layer = 0; layer < layers; ++layer) {
            std::vector<float> keys(of.size() * row), values(of.size() * row);
            auto done = sequence.read(layer, 0, of.size(), std::as_writable_bytes(std::span(keys)),
                                      std::as_writable_bytes(std::span(values)));
            if (!done) return done.error().message;
            const uint32_t as = same_layers ? 0 : layer;
            if (keys != rows(of, 0, as, true)) return "wrong keys in layer " + std::to_string(layer);
            if (values != rows(of, 0, as, false)) return "wrong values in layer " + std::to_string(layer);
        }
        return sequence.tokens() == of.size() ? "" : "wrong length";
    }
    static std::vector<float> attended(Sequence &sequence, uint32_t layer = 0) {
        std::vector<float> query(4 * dim), output(4 * dim);
        for (size_t i = 0; i < query.size(); ++i) query[i] = number(1, 2, 3, static_cast<uint32_t>(i), true);
        must(sequence.attend(layer, query, output));
        return output;
    }

    Device device = open();
};

} // namespace hbf::kv
