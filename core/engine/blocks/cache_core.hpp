// SPDX-License-Identifier: Apache-2.0
// The cache behind KvCache and its sequences: the blocks, where they are, and who may have them.
//
// One mutex guards the table, the indexes and the counters; it is never held while bytes move. Readers take none: they load
// a block's place inside an epoch (migration/epochs.hpp). Order of locks: this mutex, then a pool's.
#pragma once

#include <array>
#include <chrono>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/engine/blocks/block_table.hpp"
#include "core/engine/blocks/cold_logs.hpp"
#include "core/engine/blocks/cold_reader.hpp"
#include "core/engine/blocks/heat.hpp"
#include "core/engine/blocks/id_table.hpp"
#include "core/engine/blocks/process.hpp"
#include "core/engine/identity/identity.hpp"
#include "core/engine/migration/copier.hpp"
#include "core/engine/migration/transfers.hpp"
#include "core/engine/observe/page.hpp"
#include "hbf/kv.hpp"
#include "kernels/host/attention/attention.hpp"

namespace hbf::kv {

// What one thread needs to move or read blocks; borrowed from the cache.
struct Worker {
    Worker(TierPool &cpu, uint64_t longest, Epochs &epochs)
        : copier(cpu, longest), cold(cpu, longest), reader(epochs.take()) {}
    ~Worker() { Epochs::give_back(reader); }
    Worker(const Worker &) = delete;
    Worker &operator=(const Worker &) = delete;
    Copier copier;
    ColdReader cold;
    Epochs::Reader &reader;
};

// What a block will be, before its bytes are there.
struct BlockShape {
    uint32_t lane = 0, first = 0, capacity = 0; // position of its first token; tokens
    uint16_t tenant = 0;                        // its number
};

class CacheCore : public std::enable_shared_from_this<CacheCore> {
public:
    using Clock = std::chrono::steady_clock;

    // In a child of fork() it is left alone at its end: its locks may be held, and its threads are not there to be joined.
    // `calls`: tests, of the cold logs.
    static Result<std::shared_ptr<CacheCore>> make(const CacheOptions &options, const cold::Calls *calls = nullptr);
    explicit CacheCore(const CacheOptions &options);
    ~CacheCore();
    CacheCore(const CacheCore &) = delete;
    CacheCore &operator=(const CacheCore &) = delete;

    // A lane is a layer's group of heads: lane = layer * groups + group.
    const Model &model() const { return model_; }
    uint64_t process() const { return process_; } // that opened it
    uint32_t lanes() const { return model_.layers * model_.head_groups; }
    kernels::device::kv_shape shape(uint32_t capacity) const; // of a block of one lane
    uint64_t block_bytes(uint32_t capacity) const { return kernels::device::kv_block_size(shape(capacity)); }
    uint64_t row_bytes() const { return uint64_t{model_.kv_heads} * model_.head_dim * size_of(model_.element); }
    Identity root(uint32_t lane) const { return roots_[lane]; } // parent of a lane's first block
    BlockIdentities identities(std::string_view tenant) const { return {model_identity_, layout_identity_, tenant}; }
    Clock::time_point deadline() const { return Clock::now() + deadline_; }

    // Blocks: lifecycle.cpp. Every block that is returned is the caller's to release.
    Result<BlockId> new_block(const BlockShape &as);
    std::byte *memory(BlockId block) const;        // of one that is being filled
    bool writable(BlockId block, uint16_t tokens); // being filled, and nobody else's; then it has these tokens from now on
    void share(BlockId block);
    void release(BlockId block);
    // The block is full: checksums, identity, the indexes, its place after `parent` (no_block: the first). What the caller
    // has afterwards: this block, or the same one of somebody else (the caller's is released then).
    BlockId seal(Worker &worker, BlockId block, const Identity &identity, BlockId parent);
    Result<BlockId> copy_of(Worker &worker, BlockId block, uint16_t tokens); // a block of the caller's own, to be filled

    // Prefixes: prefix.cpp
    // no_block, or a block that is now the caller's; in memory, or in the tenant's cold log.
    BlockId find(const Identity &identity, const BlockShape &as);
    std::vector<uint32_t> sizes_of(uint32_t lane) const; // of blocks that there ever were, largest first

    // Bytes: reading.cpp
    BlockRecord &record(BlockId block) const { return table_[block]; }
    // Calls `use(bytes)` with the block's bytes where the CPU sees them. DATA_LOSS: no copy is right.
    template <class Use>
    Result<> with_bytes(Worker &worker, BlockId block, const Use &use) {
        const Reading reading(worker.reader);
        auto bytes = bytes_of(worker, block);
        if (!bytes) return tl::unexpected(std::move(bytes.error()));
        use(*bytes);
        return {};
    }
    // With CacheOptions::verify_reads, before a block's bytes are used in place: verify.cpp. DATA_LOSS: no copy is right.
    bool verifies() const { return verify_reads_; }
    Result<> verify(Worker &worker, BlockId block);
    void checksum(BlockId block); // of one that is being filled, after it was written to
    // Where a block's bytes are as of now; cold if nowhere.
    Tier tier_of(BlockId block) const {
        const BlockRecord &record = table_[block];
        const BlockPlace place = place_of(record.same_as == no_block ? record : table_[record.same_as]);
        return place.somewhere() ? place.tier() : Tier::cold;
    }
    bool in_place(BlockId block) const { return pool(tier_of(block)) != nullptr && pool(tier_of(block))->info.cpu_access; }
    // Who reads blocks says so, before (a block) and, now and then, of all that it read (heat_use.cpp). [any thread, no
    // lock]
    void touch(BlockId block) {
        const BlockId same = table_[block].same_as, holder = same == no_block ? block : same;
        if (heat_->fetched(holder)) heat_->reading(holder, tier_of(holder) == Tier::hbm);
    }
    template <class Entries>
    void used(const Entries &entries, bool request) {
        heat_->used(entries, request);
    }
    template <class Entries>
    void comes_next(const Entries &entries) { // below HBM, and soon to be read
        if (!looks_ahead_.load(std::memory_order_relaxed)) return;
        std::array<uint32_t, 256> below;
        size_t count = 0;
        for (const auto &entry : entries) {
            if (count == below.size()) break;
            if (tier_of(entry.block) != Tier::hbm) below[count++] = entry.block;
        }
        if (count > 0 && heat_->hint(std::span(below).first(count))) transfers_->nudge();
    }
    // A request takes these blocks over, head first, a list for each lane; it ends with those.
    void request_begins(std::span<const std::vector<BlockId>> lanes);
    void request_ends(std::span<const BlockId> before, std::span<const BlockId> tails);

    // The cold tier as logs: cold_tier.cpp, cold_save.cpp
    uint16_t tenant_number(std::string_view tenant); // 0: ""
    Result<> open_tenant(uint16_t number, std::string_view tenant);
    bool waits_in_log(BlockId block) const;
    void load_found(std::span<const BlockId> blocks); // as far as memory is free; what is damaged is lost then
    Result<uint64_t> save(); // blocks that can be found again and are in no log are written there; how many
    std::vector<std::string> notes() const;

    // Moves: move.cpp, room.cpp, defragment.cpp
    Result<> migrate(BlockId block, Tier to, Clock::time_point deadline, observe::Reason why = observe::Reason::asked);
    Result<> set_budget(Tier tier, uint64_t bytes);
    Result<uint64_t> defragment(Tier tier, double most);
    void balance(); // has the background thread decide, where there is something to
    void decide();  // heat_moves.cpp: what moves next [the transfers' thread]
    Result<> pin(BlockId block, std::chrono::milliseconds time);
    void unpin(BlockId block);
    void set_relevance(std::span<const placement::Relevance> blocks); // heat_query.cpp
    bool query();                                                     // counts one: true when relevance is due

    // Sizes: sizes.cpp
    Result<> report_entropy(uint32_t layer, uint32_t group, double entropy);
    Result<> set_chunk_size(uint32_t tokens);
    uint32_t next_capacity(uint32_t lane, bool step); // step: the size moves on towards its goal

    // What is known: report.cpp
    Result<BlockInfo> explain(BlockId block) const;
    CacheStats stats() const;
    void count_sequence(int change);
    void count_lookup(uint64_t tokens, uint64_t hits, observe::Counter miss);
    // Of one call and lane. fallback: a selective one that came to all blocks. [any thread, no lock]
    void count_attended(const uint64_t (&bytes)[tier_count], bool selectively, bool fallback);
    observe::Counter why_missing(const Identity &identity) const;
    void count_reused(uint64_t blocks);

    // Borrowed for a scope.
    class Lease {
    public:
        explicit Lease(CacheCore &core) : core_(core), worker_(core.borrow()) {}
        ~Lease() { core_.give_back(std::move(worker_)); }
        Lease(const Lease &) = delete;
        Lease &operator=(const Lease &) = delete;
        Worker &operator*() const { return *worker_; }

    private:
        CacheCore &core_;
        std::unique_ptr<Worker> worker_;
    };

private:
    friend class Attending; // attend.hpp: reads inside an epoch
    friend class LanePlace;
    using Lock = std::unique_lock<observe::ShownMutex>;
    struct LaneSize {
        uint32_t now = 0;
        uint16_t seen = 0;   // bit i: there was a block of 16 (i + 1) tokens
        double entropy = -1; // smoothed; below 0: not reported
    };

    Result<> open();
    Result<> begin_heat(const CacheOptions &options);
    // For hbf monitor: shown.cpp
    void show_from_now_on(const CacheOptions &options);
    void show(BlockId block, observe::Reason reason);
    void show_move(BlockId block, Tier from, Tier to, observe::Reason reason, const Result<> &outcome, bool copied,
                   uint64_t began_ns);
    void show_counts();
    void show_heat();               // of the scheduler, and of some more blocks each time
    void show_again(BlockId block); // where it is for the reason that it was
    void remember_dropped(const Identity &identity);
    Result<> check_places(const CacheOptions &options);

    std::unique_ptr<Worker> borrow();
    void give_back(std::unique_ptr<Worker> worker);

    TierPool *pool(Tier tier) const { return pools_[static_cast<size_t>(tier)].get(); }
    std::optional<Tier> colder(Tier tier) const; // the next one that there is
    bool has(Tier tier) const { return pool(tier) != nullptr || (tier == Tier::cold && logs_); }
    // In a log: no memory of a pool, and not to be found there by its granule.
    bool in_log(BlockPlace place) const { return logs_ && place.somewhere() && place.tier() == Tier::cold; }
    Spot spot(BlockPlace place) const { return in_log(place) ? Spot() : pool(place.tier())->at(place.granule()); }
    static BlockPlace place_of(const BlockRecord &record) { return BlockPlace(record.place.load()); }
    uint64_t copied_bytes(const BlockRecord &record) const { return uint64_t{record.granules} * granule_size; }

    // Under the lock.
    auto identity_hash() const {
        return [this](BlockId block) { return IdentityHash()(table_[block].identity); };
    }
    auto content_hash() const {
        return [this](BlockId block) { return fingerprint(table_[block]); };
    }
    uint64_t fingerprint(const BlockRecord &record) const; // of its checksums: finds what is then compared
    BlockId find_identity(const Identity &identity) const;
    BlockId find_content(BlockId like) const;
    void add_to_indexes(BlockId block);
    void release_locked(BlockId block);
    void destroy(BlockId block);
    void unindex(BlockId block);
    void retire(BlockPlace place, uint32_t granules);
    void publish(BlockId block, BlockPlace at, bool keep_lower);
    void drop_lower(BlockRecord &record);
    void lose(BlockId block);
    bool same_bytes(Lock &lock, Worker &worker, BlockId one, BlockId other); // opens the lock meanwhile

    struct Storing {
        BlockId block = no_block;
        uint64_t number = 0;
        ColdLog *log = nullptr;
        Identity key;
        bool own_key = false, copied = false, counted = false;
        Result<> outcome;
    };
    struct Forgotten {
        ColdLog *log;
        Identity key;
        uint32_t granules;
    };
    static constexpr uint16_t too_many_tenants = 127; // the number of all that are beyond it
    static constexpr uint32_t most_at_once = 32;      // granules that one commit brings to a log
    void identify();
    Result<> open_logs(const CacheOptions &options, const cold::Calls *calls);
    void look_for_all_sizes();
    bool counts_on_log(const Identity &block) const;
    Result<> append_to_log(Lock &lock, Worker &worker, Storing &one, Clock::time_point deadline);
    static bool is_there(Worker &worker, const ColdLog &log, const Identity &key, uint64_t number, const std::byte *bytes,
                         uint32_t granules);
    void move_to_log(Lock &lock, Worker &worker, std::span<Storing> all, Clock::time_point deadline);
    void publish_in_log(const Storing &one);
    void leave_log(BlockId block, BlockPlace place);
    Result<> forget_own_keys(); // not under the lock
    Result<> evict_to_log(BlockId block, TierPool &from, Clock::time_point deadline);
    struct Loading {
        BlockId block;
        BlockPlace to; // allocated
    };
    std::optional<BlockPlace> free_run(uint32_t granules);
    void finish_loading(Worker &worker, const Loading &one, ColdReader::Piece &piece, uint64_t began);
    void give_up_loading(Worker &worker, const Loading &one); // under the lock
    static ColdReader::Piece piece_of(const BlockRecord &record);
    Result<Spot> fetch_from_log(Worker &worker, const BlockRecord &record, BlockPlace place) const;
    Result<> load(Lock &lock, Worker &worker, BlockId block, TierPool &to, uint64_t run, Clock::time_point deadline);
    void lose_in_log(BlockId block, const Error &why);
    Result<const std::byte *> bytes_in_log(Worker &worker, BlockId block, BlockPlace place); // nullptr: look again
    const std::byte *copy_in_log(Worker &worker, const BlockRecord &record, BlockPlace place);
    BlockId take_over(const Identity &identity, const BlockShape &as);
    Result<uint64_t> save_group(Worker &worker, std::span<const BlockId> waiting, size_t &next, std::vector<BlockId> &rest);
    Result<bool> save_one(Worker &worker, BlockId block);

    Result<const std::byte *> bytes_of(Worker &worker, BlockId block);
    Result<const std::byte *> recover(Worker &worker, BlockRecord &record, const Error &cause);

    Result<> carry(Lock &lock, Worker &worker, BlockId block, Tier to, Clock::time_point deadline, bool &copied);
    Result<> transfer(Lock &lock, Worker &worker, BlockId block, TierPool &to, uint64_t run, Clock::time_point deadline);
    bool lower_is_right(Lock &lock, Worker &worker, BlockRecord &record, Clock::time_point deadline);
    bool take_lower(Lock &lock, Worker &worker, BlockId block, Clock::time_point deadline);
    void finish_move(BlockId block);
    Result<uint64_t> allocate(Tier tier, uint32_t granules, Clock::time_point deadline);
    using Tried = std::vector<BlockId>;                                        // and it did not go
    BlockId pick_victim(TierPool &pool, bool &lower_copy, const Tried &tried); // under the lock
    BlockId next_by_hand(TierPool &pool, bool &lower_copy, const Tried &tried, bool only_copies);
    static constexpr size_t most_tried = 16;
    bool may_leave(BlockId block, const TierPool &pool) const;
    // What moves next, as far as there is room: heat_moves.cpp, under the lock.
    struct Round;
    void move_down_for_room(Round &round);
    void move_up(Round &round, BlockId block, observe::Reason why);
    void ask(Round &round, BlockId block, Tier to, bool load, observe::Reason why);
    uint64_t hbm_limit() const; // granules
    Tier below(BlockId block) const;
    bool moved(const Transfers::Transfer &transfer);
    void add_to_chain(BlockId block);
    static constexpr size_t most_chain = 1 << 16;
    Result<> evict(BlockId block, TierPool &pool, Clock::time_point deadline);
    Result<bool> move_down(BlockId block, TierPool &pool, uint64_t from); // within its tier
    uint32_t longest_granules() const { return granules_of(block_bytes(256)); }
    static uint32_t granules_of(uint64_t bytes) { return static_cast<uint32_t>((bytes + granule_size - 1) / granule_size); }

    const uint64_t process_ = this_process();
    Model model_;
    const Settings settings_;
    const std::chrono::milliseconds deadline_;
    const bool dedupe_, background_, verify_reads_, keep_at_close_;
    Identity model_identity_, layout_identity_;
    std::vector<Identity> roots_;
    Epochs epochs_;
    std::unique_ptr<TierPool> pools_[tier_count];
    TierPool *cpu_ = nullptr; // where blocks are filled

    std::unique_ptr<observe::Page> page_; // nullptr: nothing is shown
    mutable observe::ShownMutex mutex_;
    BlockTable table_;
    IdTable by_identity_, by_content_;
    std::vector<LaneSize> sizes_;
    uint32_t chunk_ = 32;
    std::vector<size_t> dropped_;          // hashes of identities that left for want of room, the latest of each slot
    uint64_t hands_[tier_count] = {};      // where the next look for victims begins
    CacheStats counts_;                    // the counters in it
    std::atomic<uint64_t> index_bytes_{0}; // of keys, for selective attention
    std::unique_ptr<Heat> heat_;           // what of it readers use takes no lock
    std::atomic<bool> looks_ahead_{false};
    std::deque<BlockId> chain_;          // of requests that began: to be fetched ahead
    BlockId shown_hand_ = 0;             // whose heat is shown next
    std::atomic<bool> all_sizes_{false}; // are looked for
    std::atomic<uint32_t> groups_{0};    // of blocks that are on their way to a log and cannot go elsewhere
    std::unordered_map<std::string, uint16_t> tenants_;
    std::unordered_set<Identity> own_keys_; // in logs, of blocks that are not found by their identity
    std::vector<Forgotten> forgotten_;      // to be removed from their logs
    std::unique_ptr<ColdLogs> logs_;        // nullptr: the cold tier, if there is one, is a place

    std::mutex workers_mutex_;
    std::vector<std::unique_ptr<Worker>> workers_; // with room for all that there are
    size_t worker_count_ = 0;
    std::unique_ptr<Transfers> transfers_; // last: its thread uses all of this
};

} // namespace hbf::kv
