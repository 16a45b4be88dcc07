// SPDX-License-Identifier: Apache-2.0
#include "core/engine/config/keys.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "core/common/suggest.hpp"

namespace hbf::kv {
namespace config {
namespace {

constexpr double terabyte = 1e3; // in gigabytes

using Text = const std::string &;

#define HBF_KV_SET(expression)                                                                                              \
    [](Settings &s, [[maybe_unused]] double n, [[maybe_unused]] Text t, [[maybe_unused]] bool a) { expression; }

Key number(std::string_view name, std::string_view standard, std::string_view variable, double least, double most,
           std::string_view doc, decltype(Key::set) set, Kind kind = Kind::number) {
    const std::string_view type = kind == Kind::automatic ? "number or \"auto\""
                                  : kind == Kind::whole   ? "whole number"
                                                          : "number";
    return {{name, type, standard, variable, doc}, kind, least, most, {}, set};
}

} // namespace

const std::vector<Key> &table() {
    static const std::vector<Key> keys = {
        number("scheduler.ahas_alpha", "auto", "H3_SCHEDULER_AHAS_ALPHA", 0, 1,
               "decay of a block's heat from one access to the next, 0 to 1; auto: adapted to the traffic",
               HBF_KV_SET(s.scheduler.ahas_alpha = a ? std::nullopt : std::optional<double>(n)), Kind::automatic),
        number("scheduler.hbm_threshold", "0.95", "H3_SCHEDULER_HBM_THRESHOLD", 0, 1,
               "heat above which a block moves to HBM, 0 to 1", HBF_KV_SET(s.scheduler.hbm_threshold = n)),
        number("scheduler.hbf_threshold", "0.3", "H3_SCHEDULER_HBF_THRESHOLD", 0, 1,
               "heat below which a block leaves HBM, 0 to 1", HBF_KV_SET(s.scheduler.hbf_threshold = n)),
        number("scheduler.cold_threshold", "0.05", "H3_SCHEDULER_COLD_THRESHOLD", 0, 1,
               "heat below which a block moves to cold memory, 0 to 1", HBF_KV_SET(s.scheduler.cold_threshold = n)),
        number("hbm.size_gb", "auto", "H3_HBM_SIZE_GB", 0, 1024 * terabyte,
               "budget of HBM in 10^9 bytes; auto: half of what the tier has free",
               HBF_KV_SET(s.hbm.size_gb = a ? std::nullopt : std::optional<double>(n)), Kind::automatic),
        number("hbf.size_gb", "auto", "H3_HBF_SIZE_GB", 0, 1024 * terabyte,
               "budget of HBF in 10^9 bytes; auto: half of what the tier has free",
               HBF_KV_SET(s.hbf.size_gb = a ? std::nullopt : std::optional<double>(n)), Kind::automatic),
        number("hbf.prefetch_window", "20", "H3_HBF_PREFETCH_WINDOW", 1, 1024,
               "accesses that the predictor looks at, 1 to 1024",
               HBF_KV_SET(s.hbf.prefetch_window = static_cast<uint32_t>(n)), Kind::whole),
        number("hbf.compression_pca_dim", "128", "H3_HBF_COMPRESSION_PCA_DIM", 128, 4096,
               "dimensions of a block's summary, 128 to 4096",
               HBF_KV_SET(s.hbf.compression_pca_dim = static_cast<uint32_t>(n)), Kind::whole),
        Key{{"hbf.ann_index_type", "word", "auto", "H3_HBF_ANN_INDEX_TYPE",
             "index over the summaries: auto (by size), flat, ivf_pq or hnsw"},
            Kind::word,
            0,
            0,
            {"auto", "flat", "ivf_pq", "hnsw"},
            HBF_KV_SET(s.hbf.ann_index_type = t)},
        number("cold_storage.size_gb", "auto", "H3_COLD_STORAGE_SIZE_GB", 0, 1024 * terabyte,
               "budget of cold memory in 10^9 bytes; auto: half of what the tier has free",
               HBF_KV_SET(s.cold_storage.size_gb = a ? std::nullopt : std::optional<double>(n)), Kind::automatic),
        Key{{"cold_storage.path", "absolute folder", "", "H3_COLD_STORAGE_PATH", "folder of the cold log; empty: none"},
            Kind::folder,
            0,
            0,
            {},
            HBF_KV_SET(s.cold_storage.path = t)},
        number("kv.chunk_size", "32", "H3_KV_CHUNK_SIZE", 16, 256,
               "tokens of a block where attention has average entropy, 16 to 256",
               HBF_KV_SET(s.kv.chunk_size = static_cast<uint32_t>(n)), Kind::whole),
        number("kv.chunk_align", "16", "H3_KV_CHUNK_ALIGN", 16, 256, "block sizes are multiples of it, itself one of 16",
               HBF_KV_SET(s.kv.chunk_align = static_cast<uint32_t>(n)), Kind::whole),
        number("kv.prefetch_depth", "2", "H3_KV_PREFETCH_DEPTH", 0, 16, "blocks fetched ahead, 0 to 16; 0: none",
               HBF_KV_SET(s.kv.prefetch_depth = static_cast<uint32_t>(n)), Kind::whole),
        number("kv.prefetch_aggressiveness", "0.8", "H3_KV_PREFETCH_AGGRESSIVENESS", 0, 1,
               "least confidence of what is fetched ahead, 0 to 1", HBF_KV_SET(s.kv.prefetch_aggressiveness = n)),
        number("kv.swap_threshold", "0.6", "H3_KV_SWAP_THRESHOLD", 0, 1,
               "share of HBM in use above which blocks move down, 0 to 1", HBF_KV_SET(s.kv.swap_threshold = n)),
    };
    return keys;
}

#undef HBF_KV_SET

const Key *find_key(std::string_view name) {
    const auto &keys = table();
    const auto found = std::find_if(keys.begin(), keys.end(), [name](const Key &key) { return key.facts.name == name; });
    return found == keys.end() ? nullptr : &*found;
}

std::string unknown_key(const std::string &name) {
    std::vector<std::string> known;
    for (const Key &key : table()) known.emplace_back(key.facts.name);
    return fmt::format("unknown key \"{}\"{}", name, did_you_mean(name, known));
}

std::string assign(const Key &key, const std::string &text, Settings &settings) {
    if (key.kind == Kind::word) {
        if (std::find(key.words.begin(), key.words.end(), text) == key.words.end())
            return fmt::format("expected one of {}, found \"{}\"{}", fmt::join(key.words, ", "), text,
                               did_you_mean(text, key.words));
        key.set(settings, 0, text, false);
        return {};
    }
    if (key.kind == Kind::folder) {
        if (!text.empty() && text[0] != '/') return fmt::format("\"{}\" is not an absolute path", text);
        key.set(settings, 0, text, false);
        return {};
    }
    if (key.kind == Kind::automatic && text == "auto") {
        key.set(settings, 0, text, true);
        return {};
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = key.kind == Kind::whole;
    if (error != std::errc{} || end != text.data() + text.size() || (whole && value != std::floor(value)))
        return fmt::format("expected a {}, found \"{}\"", key.facts.type, text);
    if (!(value >= key.least && value <= key.most)) return fmt::format("{} is outside {} to {}", text, key.least, key.most);
    key.set(settings, value, text, false);
    return {};
}

std::vector<std::string> texts(const Settings &s) {
    const auto automatic = [](const std::optional<double> &value) { return value ? fmt::format("{}", *value) : "auto"; };
    return {automatic(s.scheduler.ahas_alpha),
            fmt::format("{}", s.scheduler.hbm_threshold),
            fmt::format("{}", s.scheduler.hbf_threshold),
            fmt::format("{}", s.scheduler.cold_threshold),
            automatic(s.hbm.size_gb),
            automatic(s.hbf.size_gb),
            fmt::format("{}", s.hbf.prefetch_window),
            fmt::format("{}", s.hbf.compression_pca_dim),
            s.hbf.ann_index_type,
            automatic(s.cold_storage.size_gb),
            s.cold_storage.path,
            fmt::format("{}", s.kv.chunk_size),
            fmt::format("{}", s.kv.chunk_align),
            fmt::format("{}", s.kv.prefetch_depth),
            fmt::format("{}", s.kv.prefetch_aggressiveness),
            fmt::format("{}", s.kv.swap_threshold)};
}

} // namespace config

std::span<const ConfigKey> settings_keys() noexcept {
    static const std::vector<ConfigKey> rows = [] {
        std::vector<ConfigKey> out;
        for (const config::Key &key : config::table()) out.push_back(key.facts);
        return out;
    }();
    return rows;
}

} // namespace hbf::kv
