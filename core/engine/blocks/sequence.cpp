// SPDX-License-Identifier: Apache-2.0
// A sequence's life: tokens come, layers are put, blocks are filled and sealed; forks, cuts, moves.
#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/engine/blocks/sequence_core.hpp"
#include "core/engine/undo.hpp"

namespace hbf::kv {

SequenceCore::SequenceCore(std::shared_ptr<CacheCore> cache, std::string_view tenant)
    : cache_(std::move(cache)), tenant_(tenant), tenant_number_(cache_->tenant_number(tenant)),
      identities_(cache_->identities(tenant)), lanes_(cache_->lanes()), put_(cache_->model().layers, false) {
    adopted_.reserve(lanes_.size());
    tails_.reserve(lanes_.size()); // its end allocates nothing
    cache_->count_sequence(1);
}

SequenceCore::~SequenceCore() {
    if (process() != this_process()) { // the blocks are the parent's, and so are the devices that may attend them
        (void)attending_.release();
        return;
    }
    end_request();
    for (Lane &lane : lanes_) cut(lane, 0);
    cache_->count_sequence(-1);
}

// The last blocks go first: who looks for victims finds leaves before their parents.
void SequenceCore::cut(Lane &lane, uint64_t tokens) {
    while (!lane.entries.empty() && lane.entries.back().first >= tokens) {
        cache_->release(lane.entries.back().block);
        lane.entries.pop_back();
    }
    lane.tokens = std::min(lane.tokens, tokens);
    if (attending_)
        attending_->forget(static_cast<uint32_t>(&lane - lanes_.data()), lane.entries.size(),
                           lane.entries.empty() ? 0 : static_cast<uint32_t>(lane.tokens - lane.entries.back().first));
}

SequenceCore::Piece SequenceCore::piece(const Lane &lane, size_t entry) const {
    const uint64_t end = entry + 1 < lane.entries.size() ? lane.entries[entry + 1].first : lane.tokens;
    return {lane.entries[entry].block, static_cast<uint32_t>(end - lane.entries[entry].first)};
}

Result<> SequenceCore::check_layer(uint32_t layer) const {
    if (layer < cache_->model().layers) return {};
    return fail(Code::invalid, fmt::format("layer {}: the model has {}", layer, cache_->model().layers));
}

Result<> SequenceCore::append(std::span<const uint32_t> tokens) {
    if (tokens_.size() != committed_)
        return fail(Code::invalid, fmt::format("{} of {} layers of the last step were put: put the others, or truncate({})",
                                               std::count(put_.begin(), put_.end(), true), put_.size(), committed_));
    if (tokens.empty()) return fail(Code::invalid, "a step of no tokens");
    if (tokens_.size() + tokens.size() > UINT32_MAX) return fail(Code::invalid, "a sequence of over 2^32 tokens");
    tokens_.insert(tokens_.end(), tokens.begin(), tokens.end());
    return {};
}

Result<> SequenceCore::put(uint32_t layer, std::span<const std::byte> keys, std::span<const std::byte> values) {
    if (auto fine = check_layer(layer); !fine) return fine;
    const uint64_t count = tokens_.size() - committed_;
    if (count == 0) return fail(Code::invalid, "no step was begun: append() its tokens first");
    if (put_[layer]) return fail(Code::invalid, fmt::format("layer {} was put already in this step", layer));
    if (const uint64_t bytes = count * cache_->row_bytes(); keys.size() != bytes || values.size() != bytes)
        return fail(Code::invalid, fmt::format("{} and {} bytes of keys and values; {} rows of {} are {}", keys.size(),
                                               values.size(), count, cache_->row_bytes(), bytes));
    const CacheCore::Lease worker(*cache_);
    Undo as_before([&] {
        for (Lane &mine : lanes_of(layer)) cut(mine, committed_);
    });
    for (uint32_t group = 0; group < cache_->model().head_groups; ++group) {
        const uint32_t lane = layer * cache_->model().head_groups + group;
        if (auto done = put_lane(*worker, lane, keys.data(), values.data(), count); !done) return done;
    }
    as_before.keep();
    put_[layer] = true;
    if (std::find(put_.begin(), put_.end(), false) == put_.end()) {
        committed_ = tokens_.size();
        put_.assign(put_.size(), false);
        (void)guarded([&]() -> Result<> { return cache_->balance(), Result<>(); }); // without memory: the next time
    }
    return {};
}

Result<uint32_t> SequenceCore::room(Worker &worker, uint32_t number) {
    Lane &lane = lanes_[number];
    if (!lane.entries.empty()) {
        Entry &last = lane.entries.back();
        const uint32_t capacity = cache_->record(last.block).capacity;
        const auto used = static_cast<uint16_t>(lane.tokens - last.first);
        if (used < capacity) {
            if (!cache_->writable(last.block, used)) {
                auto copy = cache_->copy_of(worker, last.block, used);
                if (!copy) return tl::unexpected(std::move(copy.error()));
                cache_->release(last.block);
                last.block = *copy;
            }
            return capacity - used;
        }
    }
    make_room(lane.entries);
    const uint32_t capacity = cache_->next_capacity(number, true);
    auto made = cache_->new_block({number, static_cast<uint32_t>(lane.tokens), capacity, tenant_number_});
    if (!made) return tl::unexpected(std::move(made.error()));
    lane.entries.push_back({*made, static_cast<uint32_t>(lane.tokens)});
    return capacity;
}

Result<> SequenceCore::put_lane(Worker &worker, uint32_t number, const std::byte *keys, const std::byte *values,
                                uint64_t count) {
    const uint32_t groups = cache_->model().head_groups, group = number % groups;
    const uint64_t row = cache_->row_bytes(), part = row / groups;
    Lane &lane = lanes_[number];
    for (uint64_t done = 0; done < count;) {
        auto free = room(worker, number);
        if (!free) return tl::unexpected(std::move(free.error()));
        const auto take = static_cast<uint32_t>(std::min<uint64_t>(*free, count - done));
        const std::byte *k = keys + done * row, *v = values + done * row;
        if (groups > 1) {
            rows_.resize(2 * take * part);
            for (uint32_t i = 0; i < take; ++i) {
                std::memcpy(rows_.data() + i * part, k + i * row + group * part, part);
                std::memcpy(rows_.data() + (take + i) * part, v + i * row + group * part, part);
            }
            k = rows_.data();
            v = rows_.data() + take * part;
        }
        const Entry &last = lane.entries.back();
        BlockRecord &record = cache_->record(last.block);
        const auto used = static_cast<uint32_t>(lane.tokens - last.first);
        if (used > 0 && cache_->verifies())
            if (auto right = cache_->verify(worker, last.block); !right) return right; // or its checksum would be new
        kernels::attention_pack(cache_->shape(record.capacity), k, v, used, take, cache_->memory(last.block));
        if (cache_->verifies()) cache_->checksum(last.block);
        record.tokens.store(static_cast<uint16_t>(used + take), std::memory_order_relaxed);
        lane.tokens += take;
        done += take;
        if (take == *free) seal_last(worker, number);
    }
    follow(worker, number);
    return {};
}

void SequenceCore::seal_last(Worker &worker, uint32_t number) {
    Lane &lane = lanes_[number];
    Entry &last = lane.entries.back();
    const size_t before = lane.entries.size() - 1;
    const Identity parent = before == 0 ? cache_->root(number) : cache_->record(lane.entries[before - 1].block).identity;
    const auto tokens = std::span(tokens_).subspan(last.first, cache_->record(last.block).capacity);
    last.block = cache_->seal(worker, last.block, identities_.of(parent, tokens),
                              before == 0 ? no_block : lane.entries[before - 1].block);
}

uint64_t SequenceCore::adopt_lane(uint32_t number, std::span<const uint32_t> prompt, uint64_t most, Identity &missing) {
    Lane &lane = lanes_[number];
    auto sizes = cache_->sizes_of(number);
    Identity parent = cache_->root(number);
    missing = {};
    for (bool found = true; found && lane.tokens < most;) {
        found = false;
        for (auto next = sizes.begin(); next != sizes.end(); ++next) {
            const uint32_t size = *next;
            if (lane.tokens + size > prompt.size()) continue;
            const Identity identity = identities_.of(parent, prompt.subspan(lane.tokens, size));
            make_room(lane.entries);
            const BlockId block = cache_->find(identity, {number, static_cast<uint32_t>(lane.tokens), size, tenant_number_});
            if (block == no_block) {
                missing = identity; // of the smallest size, in the end
                continue;
            }
            lane.entries.push_back({block, static_cast<uint32_t>(lane.tokens)});
            lane.tokens += size;
            parent = identity;
            found = true;
            std::rotate(sizes.begin(), next, next + 1); // the next one is most likely as large
            break;
        }
    }
    return lane.tokens;
}

// Out of the cold log, the first tokens first. The tokens that are left: a block that turns out to be damaged ends them.
uint64_t SequenceCore::load_adopted(uint64_t tokens) {
    std::vector<Entry> found;
    for (const Lane &lane : lanes_)
        for (const Entry &entry : lane.entries)
            if (cache_->waits_in_log(entry.block)) found.push_back(entry);
    if (found.empty()) return tokens;
    std::stable_sort(found.begin(), found.end(), [](const Entry &a, const Entry &b) { return a.first < b.first; });
    std::vector<BlockId> blocks;
    for (const Entry &entry : found) blocks.push_back(entry.block);
    cache_->load_found(blocks);
    for (const Entry &entry : found)
        if (cache_->record(entry.block).lost.load()) tokens = std::min<uint64_t>(tokens, entry.first);
    for (Lane &lane : lanes_) cut(lane, tokens);
    return tokens;
}

Result<> SequenceCore::adopt(std::span<const uint32_t> prompt) {
    if (auto fine = cache_->open_tenant(tenant_number_, tenant_); !fine) return fine;
    if (prompt.empty()) return {};
    uint64_t most = prompt.size() - 1; // what comes after the last token has to be computed from it
    const uint64_t all = most;
    Identity ends_at; // of the lane that ends first: what was not there
    for (uint32_t lane = 0; lane < cache_->lanes() && most > 0; ++lane) {
        Identity missing;
        const uint64_t got = adopt_lane(lane, prompt, most, missing);
        if (got < most) ends_at = missing;
        most = std::min(most, got);
    }
    for (Lane &lane : lanes_) cut(lane, most);
    most = load_adopted(most);
    uint64_t blocks = 0;
    for (const Lane &lane : lanes_) blocks += lane.entries.size();
    tokens_.assign(prompt.begin(), prompt.begin() + static_cast<ptrdiff_t>(most));
    committed_ = reused_ = most;
    cache_->count_reused(blocks);
    begin_request();
    auto miss = observe::Counter::count;
    if (ends_at)
        miss = cache_->why_missing(ends_at);
    else if (most == 0 && all > 0)
        miss = prompt.size() < cache_->next_capacity(0, false) ? observe::Counter::miss_short
                                                               : observe::Counter::miss_never_stored;
    cache_->count_lookup(prompt.size(), most, miss);
    return {};
}

Result<std::unique_ptr<SequenceCore>> SequenceCore::fork() const {
    if (tokens_.size() != committed_)
        return fail(Code::invalid,
                    fmt::format("in the middle of a step: put every layer first, or truncate({})", committed_));
    auto made = std::make_unique<SequenceCore>(cache_, tenant_);
    for (size_t i = 0; i < lanes_.size(); ++i) {
        made->lanes_[i].entries.reserve(lanes_[i].entries.size());
        for (const Entry &entry : lanes_[i].entries) {
            cache_->share(entry.block);
            made->lanes_[i].entries.push_back(entry);
        }
        made->lanes_[i].tokens = lanes_[i].tokens;
    }
    made->tokens_ = tokens_;
    made->committed_ = committed_;
    made->reused_ = committed_;
    return made;
}

Result<> SequenceCore::truncate(uint64_t tokens) {
    if (tokens > committed_)
        return fail(Code::invalid, fmt::format("to {} tokens: the sequence has {}", tokens, committed_));
    for (Lane &lane : lanes_) cut(lane, tokens);
    tokens_.resize(tokens);
    committed_ = tokens;
    reused_ = std::min(reused_, tokens);
    put_.assign(put_.size(), false);
    return {};
}

Result<uint64_t> SequenceCore::move_to(Tier tier) {
    uint64_t there = 0;
    for (const Lane &lane : lanes_) {
        for (const Entry &entry : lane.entries) {
            auto done = cache_->migrate(entry.block, tier, cache_->deadline());
            if (!done && done.error().code == Code::unsupported) return tl::unexpected(std::move(done.error()));
            there += done ? 1 : 0;
        }
    }
    return there;
}

std::vector<BlockId> SequenceCore::blocks(uint32_t layer, uint32_t group) const {
    std::vector<BlockId> all;
    if (layer >= cache_->model().layers || group >= cache_->model().head_groups) return all;
    for (const Entry &entry : lanes_[size_t{layer} * cache_->model().head_groups + group].entries)
        all.push_back(entry.block);
    return all;
}

} // namespace hbf::kv
