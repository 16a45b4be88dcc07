// SPDX-License-Identifier: Apache-2.0
// How a sequence is attended, and what came of it. Plain data; nothing here allocates or fails.
#pragma once

#include <cstdint>

#include "hbf/kv_types.hpp"

namespace hbf::kv {

// Which blocks a token attends selectively. Each KV head chooses for itself, so "block" is its part of one here.
// Without a target these are chosen for speed and nothing is promised: what matters may be left out, and AttendReport says
// how much at most.
struct Selection {
    uint32_t sinks = 16;          // tokens at the beginning, in whole blocks, always attended
    uint32_t recent = 512;        // tokens at the end, likewise
    double candidates = 1.0 / 48; // share of the blocks whose sketches are looked at: half of them by their bounds, half by
                                  // their pooled keys
    double mass = 0.99;           // of the candidates' estimated attention, after which no more blocks are taken
    double most = 1.0 / 128;      // share of the blocks that is taken at most, though `least` blocks may always be
    uint32_t least = 8;           // blocks
    double target = 0;            // 0: none. Else a certificate: missed mass is at most this, whatever that costs
    double give_up = 0.5;         // certified: once more than this share would be attended, all of it is
};

struct AttendOptions {
    bool selective = false;    // else exactly, over every token
    uint32_t dense_layers = 2; // the first layers are attended exactly all the same
    Selection selection = {};
};

// Of one call. Bytes are those of keys and values, but for the index' own.
struct AttendReport {
    bool exact = true;                                // every block was attended
    uint64_t blocks = 0, attended = 0, looked_at = 0; // parts of KV heads: all, read, those whose sketches were read
    uint32_t exact_heads = 0;                         // selective: KV heads for which everything was read
    uint32_t rounds = 0;                              // of choosing, the most of any KV head
    double missed = 0, error = 0; // selective, at most, of any query head: share of attention that was left out; Euclidean
                                  // distance of its output from exact attention's
    uint64_t bytes[tier_count] = {}; // attended, by where they were
    uint64_t bytes_on_device = 0;    // of them by the device that holds them
    uint64_t bytes_fetched = 0;      // fetched by the window, ahead of their use; with what was fetched in vain
    uint64_t fetched_alone = 0;      // blocks that were fetched one by one: nothing better could be had, or it failed
    uint32_t retried = 0;            // times that a device or a transfer failed, and all was attended again here
    uint64_t bytes_of_summaries = 0, bytes_of_sketches = 0; // read of the index
    uint64_t bytes_of_all_blocks = 0;                       // what exact attention reads
};

} // namespace hbf::kv
