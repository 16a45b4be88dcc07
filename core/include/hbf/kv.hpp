// SPDX-License-Identifier: Apache-2.0
// KV memory over tiers (libhbf-kv): sequences of blocks that live in HBM, HBF or cold memory, shared where they are the
// same, moved only verified.
//
//     auto cache = hbf::kv::KvCache::open(options);          // places: which tier of which device, and how much of it
//     auto sequence = cache->sequence(prompt);               // takes over what is known of this prompt
//     sequence->append(tokens);                              // then, for each layer:
//     sequence->put(layer, keys, values);                    //     this layer's rows of those tokens
//     sequence->attend(layer, query, output);                //     attention over everything up to here
//
// A row is kv_heads * head_dim numbers of one token, head after head. Errors name what was wrong and what to do; after an
// error nothing has changed unless it says so.
// No exception leaves a call that returns a Result: memory that ran out is EXHAUSTED. In a child of fork() a cache of the
// parent's answers UNAVAILABLE and does nothing; its handles may be dropped there.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hbf/config.hpp"
#include "hbf/device.hpp"
#include "hbf/kv_attend.hpp"
#include "hbf/kv_types.hpp"
#include "hbf/status.hpp"

namespace hbf::kv {

// h3.toml: every key with its standard value. Sections and names are those of the file.
struct Settings {
    struct Scheduler {
        std::optional<double> ahas_alpha; // decay of heat, 0 to 1; empty: "auto", adapted to the traffic
        double hbm_threshold = 0.95, hbf_threshold = 0.30, cold_threshold = 0.05;
    } scheduler;
    struct Hbm {
        std::optional<double> size_gb; // 10^9 bytes; empty: "auto", half of what the tier has free
    } hbm;
    struct Hbf {
        std::optional<double> size_gb;
        uint32_t prefetch_window = 20; // accesses the predictor looks at
        uint32_t compression_pca_dim = 128;
        std::string ann_index_type = "auto"; // auto, flat, ivf_pq, hnsw
    } hbf;
    struct ColdStorage {
        std::optional<double> size_gb;
        std::string path; // absolute folder that is there; the cold tier is a log in it. "": none
    } cold_storage;
    struct Kv {
        uint32_t chunk_size = 32;  // tokens of a block at average attention entropy
        uint32_t chunk_align = 16; // block sizes are multiples of it
        uint32_t prefetch_depth = 2;
        double prefetch_aggressiveness = 0.8; // least confidence of what is prefetched
        double swap_threshold = 0.6;          // share of HBM in use above which blocks move down
    } kv;
};

// Where settings come from, lowest first: built in, root/etc/hbf/h3.toml, $XDG_CONFIG_HOME/hbf/h3.toml (else ~/.config),
// H3_SECTION_KEY in the environment, `api` ("kv.chunk_size" -> "16").
struct LoadedSettings {
    Settings settings;
    std::map<std::string, ConfigValue> values; // every key as text, with its origin
    std::vector<std::string> notes;            // what had no effect, and why
};
HBF_API std::span<const ConfigKey> settings_keys() noexcept;
// INVALID with every mistake on a line of its own: an unknown key (with a suggestion), a wrong type, a value out of range, a
// combination that cannot work (with the reason).
HBF_API Result<LoadedSettings> load_settings(const ConfigSources &sources = {});
HBF_API Result<LoadedSettings> load_settings_file(const std::filesystem::path &path); // that file alone over the standard
HBF_API Result<> check_settings(const Settings &settings); // values and combinations, as load_settings checks them

struct Model {
    uint32_t layers = 1, query_heads = 1, kv_heads = 1;
    uint32_t head_dim = 64; // a multiple of 16, up to 256
    Element element = Element::fp16;
    float scale = 0;          // of a score; 0: 1 / sqrt(head_dim)
    uint32_t head_groups = 1; // KV heads in so many equal groups, each with block sizes of its own
    Identity digest;          // of the weights and all else that shapes K and V: blocks of another digest are never shared
};

// Memory that the cache may use: `bytes` of one tier of one device, taken in slabs as they are needed.
struct Place {
    Device device;
    uint32_t tier = 0;  // index
    uint64_t bytes = 0; // a budget of less than one block, or of more than the tier has, is refused
};

struct CacheOptions {
    Model model;
    Settings settings;
    std::optional<Place> hbm, hbf, cold; // hbm must be there; the CPU must be able to write to hbm or hbf
    std::string policy = "ahas";         // who moves first: "ahas" by heat; "lru": by the last use, for comparison
    // With settings.cold_storage.path the cold tier is a log on storage in the stead of a place: what is there outlives the
    // cache and the process, and sequence() finds it again. One log a model, layout and tenant; a log has one writer.
    uint32_t cold_tenants = 1;      // logs that there may be, each of an equal share of size_gb; the first is of tenant ""
    bool wipe_cold_tenants = false; // for one tenant too many the log used longest ago is overwritten, if nobody has it open
    bool keep_at_close = true;      // save() when the cache closes
    bool dedupe = true;             // blocks of the same bytes are stored once, after they were compared
    bool verify_reads = false; // bytes that are read where they lie are held against their checksums first, and blocks that
                               // are being filled have some too: for memory that others may spoil, at half the speed or
                               // less. Without it bytes are checked whenever they move.
    // A thread moves blocks: down while HBM is fuller than settings.kv.swap_threshold, hot ones up, and up ahead of their
    // readers. Without it they move for want of room only.
    bool background = true;
    std::chrono::milliseconds deadline{2000}; // of one block's transfer
    bool show = true;                         // a page for `hbf monitor`: 16 bytes a block
    std::string name = {};                    // of the model, there
};

struct TierStats {
    uint64_t budget = 0, used = 0;         // bytes, in granules
    uint64_t blocks = 0, lower_copies = 0; // lower copies: kept beside a copy in a hotter tier
    uint64_t waiting = 0;                  // bytes that readers may still look at; free when they have gone on
    double fragmentation = 0;              // share of the free bytes that the largest block cannot use
};

// Of the logs that are the cold tier. Blocks and bytes as the cache counts them since it was opened.
struct ColdLogStats {
    uint64_t logs = 0;                            // open ones, one a tenant; 0: the cold tier is no log
    uint64_t granules = 0, used_bytes = 0;        // that can be found; segments on the medium
    uint64_t held_bytes = 0;                      // that sequences count on: never evicted
    uint64_t stored_blocks = 0, stored_bytes = 0; // written and committed
    uint64_t found_blocks = 0;                    // of an earlier cache, or dropped from memory before: taken over
    uint64_t loaded_blocks = 0, lost_blocks = 0;  // moved back to memory; damaged or evicted: to be computed again
    uint64_t failed = 0;                          // writings that failed: those blocks stayed where they were
    uint64_t commits = 0, read_bytes = 0, evicted_granules = 0, moved_granules = 0, damaged_granules = 0;
    uint64_t refused_growths = 0; // the disk had no room for a segment within the capacity
};

struct CacheStats {
    TierStats tiers[tier_count];
    ColdLogStats log;
    bool shown = false; // to hbf monitor
    uint64_t sequences = 0, blocks = 0;
    uint64_t sealed_blocks = 0, reused_blocks = 0;                 // ever filled; ever taken over by another sequence
    uint64_t dedupe_across_requests = 0, dedupe_across_layers = 0; // bytes not stored because the same bytes were there
    uint64_t migrated[tier_count][tier_count] = {};                // bytes, from, to
    uint64_t migrations = 0, published_without_copy = 0;
    uint64_t failed_transfers = 0, expired_transfers = 0, cancelled_transfers = 0;
    uint64_t damaged = 0;        // copies whose bytes did not match their checksum: never given to anybody
    uint64_t recovered = 0;      // of them: another copy was there and was right
    uint64_t dropped_blocks = 0; // left the cache under pressure
    uint64_t prefetched_useful = 0, prefetched_wasted = 0, prefetched_late = 0; // bytes; late: read before they had come
    uint64_t accesses_dropped = 0; // that heat knows nothing of: more came at once than there was room for
    uint64_t pinned = 0;           // blocks
    uint64_t metadata_bytes = 0, metadata_per_block = 0;
    uint64_t index_bytes = 0; // beside it: summaries and sketches of keys, of sequences that are attended selectively
};

// What is known of a block, for people.
struct BlockInfo {
    BlockId block = no_block;
    Identity identity;                                       // none while it is being filled
    uint32_t layer = 0, group = 0, tokens = 0, capacity = 0; // tokens in it, tokens it has room for
    uint32_t references = 0;                                 // sequences that hold it
    Tier tier = Tier::hbm;
    BlockId same_as = no_block; // its bytes are those of that block
    bool lower_copy = false, moving = false;
    bool lost = false; // no copy of its bytes is right
    uint64_t bytes = 0, generation = 0;
    // Of the scheduler: heat on a scale from 0 to 1 (docs/placement.md), the tier where it belongs, requests that used it
    // (255: or more), relevance to the current query.
    double score = 0, relevance = 0;
    Tier target = Tier::hbm;
    uint32_t uses = 0;
    bool pinned = false;
    std::string placement; // all that decides, in words, a line each
};

class CacheCore;
class SequenceCore;

// Moves like a handle; dropped at its end. [one thread at a time; different sequences at the same time]
class HBF_API Sequence {
public:
    Sequence(Sequence &&) noexcept;
    Sequence &operator=(Sequence &&) noexcept;
    ~Sequence();

    uint64_t tokens() const; // that every layer has
    uint64_t reused() const; // of them taken over when it was made

    // The next tokens. Then put() each layer once, in any order; tokens() grows when all have come. INVALID while an
    // earlier step is incomplete.
    Result<> append(std::span<const uint32_t> tokens);
    // This layer's rows of the step, stored as the model's element; the caller's memory is free again on return.
    // EXHAUSTED: no room in any tier; the layer may be put again after something was dropped.
    Result<> put(uint32_t layer, std::span<const std::byte> keys, std::span<const std::byte> values);

    // Rows of `count` tokens from `first` on. DATA_LOSS names the block: no copy of it is right, recompute from there on
    // (truncate() to its first token).
    Result<> read(uint32_t layer, uint64_t first, uint64_t count, std::span<std::byte> keys, std::span<std::byte> values);

    // Attention of the last tokens that this layer has, each over itself and all before it: query_heads * head_dim floats a
    // token, token after token. One token is decoding, several are a chunk of prefill. Blocks are attended where they lie
    // and merged in their order: the same bits whatever tier they are in, and however many tokens are attended at once.
    // DATA_LOSS as of read().
    Result<> attend(uint32_t layer, std::span<const float> query, std::span<float> output);
    // The same with a choice, and what came of it. Selectively: one token, over the blocks that matter to it. The first time
    // all keys of the layer are read, for an index (CacheStats::index_bytes: a sixth of the KV bytes with blocks of 64
    // tokens, a third with 16) that follows what is put from then on. A fork makes one of its own.
    Result<AttendReport> attend(uint32_t layer, std::span<const float> query, std::span<float> output,
                                const AttendOptions &options);

    // Shares every block; whoever writes first gets a copy of the block it writes into. INVALID in the middle of a step.
    Result<Sequence> fork() const;
    // Back to the first `tokens`; ends an incomplete step.
    Result<> truncate(uint64_t tokens);
    // Moves its blocks to a tier, as far as there is room: the number of blocks that are there now.
    Result<uint64_t> move_to(Tier tier);

    // Keeps its full blocks in the tiers where they are, for so long; a later end prolongs. The number that are pinned now:
    // at most half of a tier can be.
    Result<uint64_t> pin(std::chrono::milliseconds time);
    // What is asked now: head_dim numbers for each query head, or for each KV head. Every tenth time blocks of this sequence
    // are held against it (by their mean key in a middle layer, where the CPU sees it): the nearer, the hotter they count.
    // Without it the queries of attend() are taken. INVALID: another size, or a number that is none.
    Result<> set_query_vector(std::span<const float> query);

    std::vector<BlockId> blocks(uint32_t layer, uint32_t group = 0) const;

    explicit Sequence(std::unique_ptr<SequenceCore> core);

private:
    std::unique_ptr<SequenceCore> core_;
};

// [any thread] Copies are handles on the same cache; it closes with the last of them and of its sequences.
class HBF_API KvCache {
public:
    static Result<KvCache> open(const CacheOptions &options);

    // With the longest prefix of `prompt` that every layer has, of sequences of the same `tenant`. At least the prompt's
    // last token is left to compute.
    Result<Sequence> sequence(std::span<const uint32_t> prompt = {}, std::string_view tenant = {});

    // Mean entropy of attention in a layer's group of heads, nats: sets the size of its blocks to come.
    Result<> report_entropy(uint32_t layer, uint32_t group, double entropy);
    // The size at average entropy. Blocks to come approach it in steps of chunk_align.
    Result<> set_chunk_size(uint32_t tokens);
    uint32_t block_tokens(uint32_t layer, uint32_t group = 0) const; // of the next block

    // A budget may shrink below what is used: blocks move down, and what nobody holds is dropped. EXHAUSTED, with the
    // budget as it was, if that is not enough.
    Result<> set_budget(Tier tier, uint64_t bytes);
    // Moves blocks together until at most `most` of the free bytes cannot hold the largest block. The number moved.
    Result<uint64_t> defragment(Tier tier, double most = 0.15);

    Result<> migrate(BlockId block, Tier tier);
    // The block leaves no tier that has it before its time is over, unless somebody asks for that (migrate, move_to).
    // INVALID: there is no such block, it is being filled. EXHAUSTED: half of the tier is pinned.
    Result<> pin(BlockId block, std::chrono::milliseconds time);
    void unpin(BlockId block);
    // Writes to the cold logs every block that can be found again and is in none yet, and commits: the number of blocks that
    // are there now. UNSUPPORTED: no cold_storage.path. After an error what was written before it is there.
    Result<uint64_t> save();
    std::vector<std::string> notes() const; // of the cold logs: what is not as wanted, what was found damaged
    Result<BlockInfo> explain(BlockId block) const;
    CacheStats stats() const;

    explicit KvCache(std::shared_ptr<CacheCore> core);

private:
    std::shared_ptr<CacheCore> core_;
};

} // namespace hbf::kv
