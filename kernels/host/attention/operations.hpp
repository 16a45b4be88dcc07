// SPDX-License-Identifier: Apache-2.0
// One variant of attention, compiled for one instruction set.
#pragma once

#include "attention.hpp"
#include "sketch.hpp"

namespace hbf::kernels {

struct AttentionOperations {
    const char *target;
    bool fused; // multiplies and adds with one rounding
    decltype(hbf::kernels::attention) *partial;
    decltype(hbf::kernels::attention_merge) *merge;
    decltype(hbf::kernels::sketch_score) *sketch_score;
    decltype(hbf::kernels::attention_fma_loop) *fma_loop;
};

} // namespace hbf::kernels
