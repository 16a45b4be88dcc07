// SPDX-License-Identifier: Apache-2.0
// A log as another process reads it, while its writer goes on or when there is none.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/cold/log.hpp"

namespace hbf::kv::cold {

class View {
public:
    // As Log::open; nothing is made, and nothing is written. BUSY: it is being wiped.
    static Result<std::unique_ptr<View>> open(const std::filesystem::path &folder, const Owner &owner, bool uring = true);

    // [one thread at a time] Takes in what was committed, moved or evicted since. A granule that the writer has moved or
    // evicted since then is a miss, never a wrong byte.
    Result<> refresh();

    std::optional<Found> find(const Key &key) const; // [any thread]
    Result<std::unique_ptr<Reader>> make_reader(uint32_t depth = 32) { return Reader::create(store_, depth); }
    size_t granules() const;
    const std::vector<std::string> &notes() const { return store_->notes; }

private:
    explicit View(std::shared_ptr<Store> store) : store_(std::move(store)) {}
    Result<> look_at_segments(bool has_writer);
    Result<> read_on(uint32_t number, bool has_writer, bool verify);

    std::shared_ptr<Store> store_;
    std::vector<uint8_t> again_; // by number: was read with batches left out that were not whole; next time from its begin
};

} // namespace hbf::kv::cold
