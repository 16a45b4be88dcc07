// SPDX-License-Identifier: Apache-2.0
// What the cache shows to hbf monitor. All under the cache's lock, but for the page itself, which other processes read.
#include <algorithm>

#include "core/engine/blocks/cache_core.hpp"

namespace hbf::kv {

using observe::Counter;

// Without a page, where memory for one cannot be had, the cache works all the same; CacheStats::shown says so.
void CacheCore::show_from_now_on(const CacheOptions &options) {
    observe::Page::Options page;
    page.name = options.name;
    page.policy = options.policy;
    const std::optional<Place> *const places[] = {&options.hbm, &options.hbf, &options.cold};
    uint64_t granules = 0;
    for (uint32_t i = 0; i < tier_count; ++i) {
        if (!pools_[i]) continue;
        const TierInfo &info = pools_[i]->info;
        page.tiers[i] = {true, info.emulated || (*places[i])->device.emulated(), (*places[i])->bytes,
                         (*places[i])->device.name() + ", " + info.name};
        granules += (*places[i])->bytes / granule_size;
    }
    if (logs_) {
        const std::string where = "log in " + settings_.cold_storage.path;
        page.tiers[static_cast<size_t>(Tier::cold)] = {true, false, logs_->bytes(), where};
        granules += logs_->bytes() / granule_size;
    }
    // A block of its own bytes takes a granule at least; others of the same bytes are left out beyond that.
    page.blocks = static_cast<uint32_t>(std::min<uint64_t>(2 * granules + 1024, 1 << 24));
    auto made = observe::Page::create(page);
    if (!made) return;
    page_ = std::move(*made);
    mutex_.show(page_->add_lock("cache"));
    dropped_.assign(1 << 16, 0);
    show_counts();
}

void CacheCore::show(BlockId block, observe::Reason reason) {
    if (!page_) return;
    const BlockRecord &record = table_[block];
    observe::BlockValue value;
    if (record.used) {
        const BlockRecord &holder = record.same_as == no_block ? record : table_[record.same_as];
        const BlockPlace place = place_of(holder), lower(holder.lower);
        if (place.somewhere()) value.tiers |= static_cast<uint8_t>(1 << static_cast<unsigned>(place.tier()));
        if (lower.somewhere()) value.tiers |= static_cast<uint8_t>(1 << static_cast<unsigned>(lower.tier()));
        value.layer = record.layer;
        const uint16_t tokens = record.tokens.load(std::memory_order_relaxed);
        value.tokens = static_cast<uint8_t>(tokens > 0 ? tokens - 1 : 0);
        value.set_place(static_cast<unsigned>(place.somewhere() ? place.tier() : Tier::cold), 0);
        const unsigned flags = (holder.moving ? observe::block_moving : 0) |
                               (record.references > 1 ? observe::block_shared : 0) |
                               (record.sealed ? 0 : observe::block_filling);
        value.set_reason(flags, reason);
        if (heat_->scored() && record.sealed) heat_->describe(record.same_as == no_block ? block : record.same_as, value);
    }
    page_->block(block, value);
    show_counts();
}

void CacheCore::show_again(BlockId block) {
    if (page_) show(block, page_->value(block).reason());
}

// Heat changes without anything being moved: a few blocks are shown anew each time.
void CacheCore::show_heat() {
    constexpr uint32_t most_looked = 2 * BlockTable::per_chunk, most_shown = 64;
    if (!page_) return;
    if (heat_->scored()) heat_->describe(page_->scheduler());
    for (uint32_t looked = 0, shown = 0; looked < most_looked && looked < table_.end() && shown < most_shown; ++looked) {
        if (++shown_hand_ >= table_.end()) shown_hand_ = 0;
        if (table_.find(shown_hand_) == nullptr) continue; // numbers come a chunk at a time: most may be free
        show_again(shown_hand_);
        ++shown;
    }
}

void CacheCore::show_move(BlockId block, Tier from, Tier to, observe::Reason reason, const Result<> &outcome, bool copied,
                          uint64_t began_ns) {
    if (!page_) return;
    observe::EventValue event;
    event.block = block;
    event.granules = table_[block].granules;
    event.from = static_cast<uint8_t>(from);
    event.to = static_cast<uint8_t>(to);
    event.reason = reason;
    event.outcome = outcome                                   ? (copied ? observe::Outcome::done : observe::Outcome::spared)
                    : outcome.error().code == Code::timeout   ? observe::Outcome::late
                    : outcome.error().code == Code::cancelled ? observe::Outcome::cancelled
                                                              : observe::Outcome::failed;
    event.when_ns = observe::now_ns();
    event.took_ns = event.when_ns - began_ns;
    page_->event(event);
    show(block, reason);
}

void CacheCore::remember_dropped(const Identity &identity) {
    if (dropped_.empty()) return;
    const size_t hash = IdentityHash()(identity);
    dropped_[hash % dropped_.size()] = hash;
}

observe::Counter CacheCore::why_missing(const Identity &identity) const {
    const size_t hash = IdentityHash()(identity);
    const std::lock_guard lock(mutex_);
    const bool was_there = !dropped_.empty() && dropped_[hash % dropped_.size()] == hash;
    return was_there ? Counter::miss_evicted : Counter::miss_never_stored;
}

// miss: Counter::count where nothing was missing.
void CacheCore::count_lookup(uint64_t tokens, uint64_t hits, observe::Counter miss) {
    const std::lock_guard lock(mutex_);
    if (!page_) return;
    page_->add(Counter::lookups);
    page_->add(Counter::lookup_tokens, tokens);
    page_->add(Counter::hit_tokens, hits);
    if (miss != Counter::count) page_->add(miss);
}

void CacheCore::count_attended(const uint64_t (&bytes)[tier_count], bool selectively, bool fallback) {
    if (!page_) return;
    constexpr Counter counters[] = {Counter::read_hbm_bytes, Counter::read_hbf_bytes, Counter::read_cold_bytes};
    for (uint32_t i = 0; i < tier_count; ++i)
        if (bytes[i] != 0) page_->add(counters[i], bytes[i]);
    page_->add(Counter::attended_tokens);
    page_->add(selectively ? Counter::attended_selectively : Counter::attended_exactly);
    if (fallback) page_->add(Counter::fallbacks_to_exact);
}

void CacheCore::show_counts() {
    if (!page_) return;
    uint64_t up = 0, down = 0;
    for (uint32_t from = 0; from < tier_count; ++from)
        for (uint32_t to = 0; to < tier_count; ++to) (to < from ? up : down) += counts_.migrated[from][to];
    const std::pair<Counter, uint64_t> values[] = {
        {Counter::filled_blocks, counts_.sealed_blocks},
        {Counter::dropped_blocks, counts_.dropped_blocks},
        {Counter::shared_blocks, counts_.reused_blocks},
        {Counter::shared_bytes, counts_.dedupe_across_requests + counts_.dedupe_across_layers},
        {Counter::moved_up_bytes, up},
        {Counter::moved_down_bytes, down},
        {Counter::spared_blocks, counts_.published_without_copy},
        {Counter::failed_moves, counts_.failed_transfers},
        {Counter::late_moves, counts_.expired_transfers},
        {Counter::cancelled_moves, counts_.cancelled_transfers},
        {Counter::corrupt_granules, counts_.damaged},
        {Counter::recovered_blocks, counts_.recovered},
        {Counter::prefetched_useful_bytes, heat_->ahead().bytes().useful},
        {Counter::prefetched_wasted_bytes, heat_->ahead().bytes().wasted},
        {Counter::prefetched_late_bytes, heat_->ahead().bytes().late},
        {Counter::log_stored_blocks, counts_.log.stored_blocks},
        {Counter::log_stored_bytes, counts_.log.stored_bytes},
        {Counter::log_found_blocks, counts_.log.found_blocks},
        {Counter::log_loaded_blocks, counts_.log.loaded_blocks},
        {Counter::log_lost_blocks, counts_.log.lost_blocks},
        {Counter::log_failed_writes, counts_.log.failed},
    };
    for (const auto &[counter, value] : values) page_->set(counter, value);
    page_->scheduler().sequences.store(counts_.sequences, std::memory_order_relaxed);
    for (uint32_t i = 0; i < tier_count; ++i) {
        if (!pools_[i]) continue;
        page_->capacity(static_cast<Tier>(i), pools_[i]->budget() * granule_size);
        page_->used(static_cast<Tier>(i), pools_[i]->used() * granule_size);
    }
    if (logs_) page_->used(Tier::cold, logs_->used());
}

} // namespace hbf::kv
