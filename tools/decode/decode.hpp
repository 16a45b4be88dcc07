// SPDX-License-Identifier: Apache-2.0
// Decoding over a long context, once with all of it in the hottest tier and once with a share of it there: the same tokens,
// the same queries, and outputs that have to be the same to the bit. Then selectively, and how far that is from exact.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "hbf/kv.hpp"

namespace hbf::tools::decode {

struct Options {
    uint64_t context = 128 * 1024; // tokens
    double hbm_share = 0.2;        // of the KV bytes
    uint32_t layers = 1, query_heads = 32, kv_heads = 8, head_dim = 128;
    uint32_t block = 64; // tokens
    uint32_t steps = 10;
    uint64_t seed = 1;
    std::string name; // shown to hbf monitor
    // Around the tokens that are decoded with a share of the context in HBM.
    std::function<void()> before = {}, after = {};
};

struct Run {
    std::string name;                      // "all in HBM"
    uint64_t hbm_bytes = 0, hbf_bytes = 0; // held, at the end
    std::vector<double> step_seconds;      // attention of one token, all layers
    uint64_t kv_bytes = 0;                 // attended in a step
    uint64_t moved_bytes = 0;              // between tiers while decoding
    uint64_t device_bytes = 0;             // of kv_bytes, attended by the device in its own memory
    uint64_t fetched_bytes = 0;            // of kv_bytes, copied to the CPU to be attended
    double fill_seconds = 0;
    std::vector<float> outputs; // of every step and layer
    double median() const;      // seconds a token
    double gbs() const { return static_cast<double>(kv_bytes) / median() * 1e-9; }
};

// Selective attention over the tiered context, beside exact attention of the same queries.
struct Selective {
    Run run;
    uint64_t read_bytes = 0, all_bytes = 0; // of keys, values and their index; what exact attention reads
    uint64_t index_bytes = 0;               // held
    double distance = 0;                    // from exact attention's output, the farthest head, in parts of its length
    double missed = 0;                      // share of attention left out, at most
};

struct Outcome {
    Run full, tiered;
    Selective selective;
    bool same_bits = false;
    uint64_t kv_bytes = 0;  // of the context, all layers
    double exact_error = 0; // of the first step's outputs against double precision, relative to the largest; first layer
    std::string hbm, hbf;   // names of the tiers
    bool emulated = false;
};

using Progress = std::function<void(const std::string &)>;
using Stop = std::function<bool()>;

// Places in the device: its HBM, and its HBF tier, which the CPU reaches. Where it does not reach HBM blocks are filled in
// HBF and moved up. EXHAUSTED: the context does not fit.
Result<Outcome> run(Device &device, const Options &options, const Progress &progress, const Stop &stop);

// Keys and values of a token, as fp16, from its place alone.
void make_rows(const Options &options, uint32_t layer, uint64_t first, uint64_t count, bool keys,
               std::vector<uint16_t> &out);

} // namespace hbf::tools::decode
