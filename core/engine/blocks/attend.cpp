// SPDX-License-Identifier: Apache-2.0
#include "core/engine/blocks/attend.hpp"

#include <algorithm>

#include "core/engine/blocks/attend_source.hpp"

namespace hbf::kv {
namespace {

constexpr uint32_t most_failures = 3; // of a place, after which it is left alone

} // namespace

Attending::Attending(CacheCore &cache) : cache_(cache), here_(cache) {}

Attending::~Attending() {
    cache_.index_bytes_.fetch_sub(index_bytes_, std::memory_order_relaxed);
}

std::span<AttendPlace *const> Attending::places() {
    places_.assign(1, &here_);
    for (const Elsewhere &other : elsewhere_) places_.push_back(other.place());
    return places_;
}

// Opened when the first block of its pool is met. Where a device does not attend it fetches; where it cannot do that the
// blocks are fetched one by one.
Attending::Elsewhere *Attending::of(TierPool &pool, Region region) {
    Elsewhere &other = elsewhere_[static_cast<size_t>(pool.tier)];
    if (other.place() != nullptr) return &other;
    if (other.failures >= most_failures) return nullptr;
    other.pool = &pool, other.counted = 0;
    // Only where products and sums round alike on both sides does a move change no bit. Nobody verifies what a device reads.
    DevicePlaceOptions options;
    options.deadline = cache_.deadline_;
    if (kernels::attention_is_fused() && pool.info.device_access && !cache_.verifies())
        if (auto device = DevicePlace::open(pool.device, region, options); device) {
            other.device = std::move(*device);
            return &other;
        }
    SourceOptions windows;
    windows.unit = granule_size;
    const uint64_t longest = cache_.longest_granules() * granule_size;
    if (longest > windows.window) { // as much memory as otherwise, or two blocks
        windows.windows = static_cast<uint32_t>(std::max<uint64_t>(windows.window * windows.windows / longest, 2));
        windows.window = longest;
    }
    auto source = SourcePlace::open(std::make_unique<PoolSource>(pool, *cache_.cpu_, cache_.deadline_), windows);
    if (source) {
        other.source = std::move(*source);
        return &other;
    }
    other.failures = most_failures;
    return nullptr;
}

bool Attending::find_elsewhere(TierPool &pool, const Spot &spot, uint64_t granule, uint32_t tokens, Found &found) {
    Elsewhere *const other = of(pool, spot.region);
    if (other == nullptr) return false;
    uint64_t offset = granule * granule_size;
    if (other->device) {
        const auto base = other->device->add(spot.region);
        if (!base) return false;
        offset = *base + spot.offset;
    }
    found.blocks.push_back({{offset, tokens, 0}, static_cast<uint32_t>(pool.tier) + 1});
    found.elsewhere = true;
    return true;
}

// Inside an epoch. `whole`: tokens, beyond which blocks may be attended in part, and so by this thread. `trust`: blocks may
// be attended elsewhere, those of the shape `as`, or of the first that is met.
void Attending::find(const Pieces &lane, uint64_t whole, bool trust, const kv_shape *as, Found &found) {
    found.blocks.clear(), found.entries.clear(), found.words.clear();
    found.elsewhere = false;
    if (as != nullptr) found.shape = *as;
    uint64_t end = 0;
    for (size_t i = 0; i < lane.size(); ++i) {
        const BlockRecord *record = &cache_.table_[lane[i].block];
        if (i == 0 && as == nullptr) found.shape = cache_.shape(record->capacity);
        LanePlace::Entry entry{lane[i].block, nullptr, record->capacity, Tier::cold};
        if (record->same_as != no_block) record = &cache_.table_[record->same_as];
        const bool lost = record->lost.load();
        const BlockPlace place(record->place.load());
        TierPool *const pool = place.somewhere() ? cache_.pool(place.tier()) : nullptr;
        bool done = false;
        end += lane[i].tokens;
        if (pool != nullptr && !lost) {
            const Spot spot = cache_.spot(place);
            entry.tier = place.tier(), entry.address = spot.address;
            if (entry.address == nullptr && trust && end <= whole) {
                if (as == nullptr && !found.elsewhere) found.shape.block_tokens = entry.capacity;
                if (entry.capacity == found.shape.block_tokens)
                    done = find_elsewhere(*pool, spot, place.granule(), lane[i].tokens, found);
                if (done && elsewhere_[static_cast<size_t>(place.tier())].source) found.words.push_back(place.word());
            }
        }
        if (!done) found.blocks.push_back({{LanePlace::offset_of(i), lane[i].tokens, 0}, 0});
        found.entries.push_back(entry);
    }
}

// Sources go on with what they were told last time if it is still there, else they begin anew; then they are told what comes
// after it.
void Attending::look_ahead(const Pieces &next) {
    if (planned_ != found_.words)
        for (Elsewhere &other : elsewhere_)
            if (other.source) other.source->abandon();
    if (planned_ != found_.words || planned_.empty()) exact_.prefetch(found_.shape, places(), found_.blocks);
    planned_.clear();
    if (next.empty()) return;
    find(next, UINT64_MAX, true, nullptr, next_);
    if (next_.words.empty()) return;
    exact_.prefetch(next_.shape, places(), next_.blocks);
    planned_ = next_.words;
}

Result<> Attending::attend(Worker &worker, const Pieces &lane, const Pieces &next, const float *query, uint32_t tokens,
                           float *output) {
    uint64_t all = 0;
    for (const Piece &piece : lane) all += piece.tokens;
    find(lane, tokens > 1 ? all - std::min<uint64_t>(all, tokens) : all, true, nullptr, found_);
    if (found_.elsewhere || !planned_.empty()) look_ahead(tokens > 1 ? Pieces() : next);
    here_.use(worker, found_.entries);
    return exact_.attend(found_.shape, places(), found_.blocks, query, tokens, output);
}

// What failed is opened again when it is needed the next time, a few times.
void Attending::distrust() {
    planned_.clear();
    for (Elsewhere &other : elsewhere_) {
        if (other.place() == nullptr) continue;
        other.place()->abandon();
        ++other.failures;
        other.device.reset(), other.source.reset();
    }
    const std::lock_guard lock(cache_.mutex_);
    ++cache_.counts_.failed_transfers;
}

Result<> Attending::exact(Worker &worker, const Pieces &lane, const Pieces &next, const float *query, uint32_t tokens,
                          float *output, AttendReport &report) {
    const Reading reading(worker.reader);
    auto done = attend(worker, lane, next, query, tokens, output);
    if (!done && found_.elsewhere) {
        distrust();
        ++report.retried;
        find(lane, 0, false, nullptr, found_);
        here_.use(worker, found_.entries);
        done = exact_.attend(found_.shape, places(), found_.blocks, query, tokens, output);
    }
    const uint64_t parts = lane.size() * found_.shape.kv_heads;
    report.blocks += parts, report.attended += parts;
    for (const LanePlace::Entry &entry : found_.entries) report.bytes_of_all_blocks += cache_.block_bytes(entry.capacity);
    count(report, false);
    return done;
}

// What was attended since the last report, where it lay.
void Attending::count(AttendReport &report, bool selectively) {
    uint64_t bytes[tier_count] = {};
    for (uint32_t i = 0; i < tier_count; ++i) {
        bytes[i] = here_.attended(static_cast<Tier>(i)) - counted_[i];
        counted_[i] += bytes[i];
        Elsewhere &other = elsewhere_[i];
        if (other.place() == nullptr) continue;
        const uint64_t did = other.device ? other.device->work().kv_bytes : other.source->traffic().bytes;
        bytes[i] += did - other.counted;
        (other.device ? report.bytes_on_device : report.bytes_fetched) += did - other.counted;
        other.counted = did;
    }
    report.fetched_alone += here_.fetched() - counted_alone_;
    counted_alone_ = here_.fetched();
    for (uint32_t i = 0; i < tier_count; ++i) report.bytes[i] += bytes[i];
    cache_.count_attended(bytes, selectively, selectively && report.exact_heads != 0);
}

} // namespace hbf::kv
