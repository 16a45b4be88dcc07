// SPDX-License-Identifier: Apache-2.0
// The kinds of index that FAISS makes. It runs on the calling thread alone: its own threads cost more than they bring here.
#pragma once

#include "core/engine/summaries/index.hpp"

namespace hbf::kv::summaries {

// nullptr: this build has no FAISS.
std::unique_ptr<SummaryIndex> make_faiss_index(uint32_t dimension, IndexKind kind);

} // namespace hbf::kv::summaries
