// SPDX-License-Identifier: Apache-2.0
#include "core/engine/migration/epochs.hpp"

#include <memory>

namespace hbf::kv {

Epochs::~Epochs() {
    for (Chunk *chunk = chunks_.load(); chunk != nullptr;) {
        Chunk *const next = chunk->next;
        delete chunk;
        chunk = next;
    }
}

Epochs::Reader &Epochs::take() {
    for (Chunk *chunk = chunks_.load(std::memory_order_acquire); chunk != nullptr; chunk = chunk->next)
        for (Reader &reader : chunk->readers)
            if (!reader.taken_.exchange(true, std::memory_order_acq_rel)) return reader;
    auto chunk = std::make_unique<Chunk>();
    for (Reader &reader : chunk->readers) reader.epochs_ = this;
    Reader &mine = chunk->readers.front();
    mine.taken_.store(true, std::memory_order_relaxed);
    chunk->next = chunks_.load(std::memory_order_acquire);
    while (!chunks_.compare_exchange_weak(chunk->next, chunk.get(), std::memory_order_seq_cst)) {
    }
    chunk.release();
    return mine;
}

void Epochs::give_back(Reader &reader) noexcept {
    reader.taken_.store(false, std::memory_order_release);
}

bool Epochs::passed(uint64_t epoch) const noexcept {
    for (const Chunk *chunk = chunks_.load(std::memory_order_seq_cst); chunk != nullptr; chunk = chunk->next)
        for (const Reader &reader : chunk->readers) {
            const uint64_t inside = reader.inside_.load(std::memory_order_seq_cst);
            if (inside != 0 && inside <= epoch) return false;
        }
    return true;
}

} // namespace hbf::kv
