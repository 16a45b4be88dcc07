// SPDX-License-Identifier: Apache-2.0
// hbf/kv.h over hbf/kv.hpp. No exception leaves it: memory that ran out is HBF_EXHAUSTED, any other one HBF_INTERNAL.
#include <algorithm>
#include <cstring>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "hbf/kv.h"
#include "hbf/kv.hpp"
#include "hbf/system.hpp"

struct hbf_kv_cache {
    hbf::kv::KvCache cache;
};
struct hbf_kv_sequence {
    hbf::kv::Sequence sequence;
};

namespace hbf::kv {
namespace {

int32_t say(hbf_kv_message message, Code code, std::string_view text) noexcept {
    if (message.text != nullptr && message.size > 0) {
        const size_t length = std::min<size_t>(text.size(), message.size - 1);
        std::memcpy(message.text, text.data(), length);
        message.text[length] = 0;
    }
    return static_cast<int32_t>(code);
}

// `work` returns a Result<>.
template <class Work>
int32_t guarded(hbf_kv_message message, const Work &work) noexcept {
    try {
        const Result<> result = work();
        return result ? say(message, Code::ok, "") : say(message, result.error().code, result.error().message);
    } catch (const std::bad_alloc &) {
        return say(message, Code::exhausted, "the process has no memory left");
    } catch (const std::exception &error) {
        return say(message, Code::internal, error.what());
    } catch (...) {
        return say(message, Code::internal, "something that is no std::exception was thrown");
    }
}

template <class T>
std::span<const std::byte> bytes_at(const T *data, uint64_t size) {
    return {reinterpret_cast<const std::byte *>(data), size};
}

Result<> missing(const char *what) {
    return fail(Code::invalid, fmt::format("{} is NULL", what));
}

// A tier's budget: what is asked for, else what the settings say, else half of what is free.
std::optional<Place> place_in(const Device &device, TierKind kind, uint64_t bytes, const std::optional<double> &gigabytes) {
    for (const TierInfo &tier : device.tiers()) {
        if (tier.kind != kind) continue;
        const uint64_t wanted = bytes != 0  ? bytes
                                : gigabytes ? static_cast<uint64_t>(*gigabytes * 1e9)
                                            : tier.available / 2;
        return Place{device, tier.index, wanted / granule_size * granule_size};
    }
    return std::nullopt;
}

Result<KvCache> open_here(const hbf_kv_options &in) {
    auto loaded = in.settings == nullptr ? load_settings() : load_settings_file(in.settings);
    if (!loaded) return tl::unexpected(loaded.error());
    auto system = System::open();
    if (!system) return tl::unexpected(system.error());
    const auto &devices = system->devices();
    const auto found = std::find_if(devices.begin(), devices.end(), [&](const Device &device) {
        return in.device == nullptr || device.plugin_name() == in.device;
    });
    if (found == devices.end())
        return fail(Code::unavailable, fmt::format("no device of plugin {} is open; see 'hbf probe --explain'",
                                                   in.device == nullptr ? "(any)" : in.device));
    CacheOptions options;
    options.settings = loaded->settings;
    options.model.layers = in.layers;
    options.model.query_heads = in.query_heads;
    options.model.kv_heads = in.kv_heads;
    options.model.head_dim = in.head_dim;
    options.model.element = static_cast<Element>(std::min(in.element, 3u)); // 3 is refused
    options.model.head_groups = in.head_groups == 0 ? 1 : in.head_groups;
    options.model.scale = in.scale;
    std::memcpy(options.model.digest.bytes.data(), in.model, sizeof in.model);
    options.hbm = place_in(*found, TierKind::hbm, in.hbm_bytes, loaded->settings.hbm.size_gb);
    options.hbf = place_in(*found, TierKind::hbf, in.hbf_bytes, loaded->settings.hbf.size_gb);
    if (loaded->settings.cold_storage.path.empty()) // else that is the cold tier
        options.cold = place_in(*found, TierKind::cold, in.cold_bytes, loaded->settings.cold_storage.size_gb);
    else if (in.cold_bytes != 0)
        options.settings.cold_storage.size_gb = static_cast<double>(in.cold_bytes) * 1e-9;
    return KvCache::open(options);
}

} // namespace
} // namespace hbf::kv

using namespace hbf;
using namespace hbf::kv;

int32_t hbf_kv_open(const hbf_kv_options *options, hbf_kv_cache **cache, hbf_kv_message message) noexcept {
    return guarded(message, [&]() -> Result<> {
        if (options == nullptr || cache == nullptr) return missing(options == nullptr ? "options" : "cache");
        if (options->struct_size < sizeof *options)
            return fail(Code::invalid, fmt::format("options: struct_size is {}, it must be at least {}",
                                                   options->struct_size, sizeof *options));
        auto opened = open_here(*options);
        if (!opened) return tl::unexpected(opened.error());
        *cache = new hbf_kv_cache{std::move(*opened)};
        return {};
    });
}

void hbf_kv_close(hbf_kv_cache *cache) noexcept {
    delete cache;
}

int32_t hbf_kv_save(hbf_kv_cache *cache, uint64_t *blocks, hbf_kv_message message) noexcept {
    return guarded(message, [&]() -> Result<> {
        if (cache == nullptr) return missing("cache");
        auto saved = cache->cache.save();
        if (!saved) return tl::unexpected(saved.error());
        if (blocks != nullptr) *blocks = *saved;
        return {};
    });
}

int32_t hbf_kv_sequence_open(hbf_kv_cache *cache, const uint32_t *prompt, uint64_t tokens, const char *tenant,
                             hbf_kv_sequence **sequence, hbf_kv_message message) noexcept {
    return guarded(message, [&]() -> Result<> {
        if (cache == nullptr || sequence == nullptr) return missing(cache == nullptr ? "cache" : "sequence");
        if (prompt == nullptr && tokens != 0) return missing("prompt");
        auto made = cache->cache.sequence({prompt, tokens}, tenant == nullptr ? "" : tenant);
        if (!made) return tl::unexpected(made.error());
        *sequence = new hbf_kv_sequence{std::move(*made)};
        return {};
    });
}

int32_t hbf_kv_sequence_fork(const hbf_kv_sequence *of, hbf_kv_sequence **sequence, hbf_kv_message message) noexcept {
    return guarded(message, [&]() -> Result<> {
        if (of == nullptr || sequence == nullptr) return missing(of == nullptr ? "of" : "sequence");
        auto made = of->sequence.fork();
        if (!made) return tl::unexpected(made.error());
        *sequence = new hbf_kv_sequence{std::move(*made)};
        return {};
    });
}

void hbf_kv_sequence_drop(hbf_kv_sequence *sequence) noexcept {
    delete sequence;
}

uint64_t hbf_kv_tokens(const hbf_kv_sequence *sequence) noexcept {
    return sequence == nullptr ? 0 : sequence->sequence.tokens();
}

int32_t hbf_kv_append(hbf_kv_sequence *sequence, const uint32_t *tokens, uint64_t count, hbf_kv_message message) noexcept {
    return guarded(message, [&]() -> Result<> {
        if (sequence == nullptr || tokens == nullptr) return missing(sequence == nullptr ? "sequence" : "tokens");
        return sequence->sequence.append({tokens, count});
    });
}

int32_t hbf_kv_put(hbf_kv_sequence *sequence, uint32_t layer, const void *keys, const void *values, uint64_t bytes,
                   hbf_kv_message message) noexcept {
    return guarded(message, [&]() -> Result<> {
        if (sequence == nullptr || keys == nullptr || values == nullptr) return missing("sequence, keys or values");
        return sequence->sequence.put(layer, bytes_at(keys, bytes), bytes_at(values, bytes));
    });
}

int32_t hbf_kv_read(hbf_kv_sequence *sequence, uint32_t layer, uint64_t first, uint64_t count, void *keys, void *values,
                    uint64_t bytes, hbf_kv_message message) noexcept {
    return guarded(message, [&]() -> Result<> {
        if (sequence == nullptr || keys == nullptr || values == nullptr) return missing("sequence, keys or values");
        return sequence->sequence.read(layer, first, count, {static_cast<std::byte *>(keys), bytes},
                                       {static_cast<std::byte *>(values), bytes});
    });
}

int32_t hbf_kv_attend(hbf_kv_sequence *sequence, uint32_t layer, const float *query, float *output, uint64_t numbers,
                      hbf_kv_message message) noexcept {
    return guarded(message, [&]() -> Result<> {
        if (sequence == nullptr || query == nullptr || output == nullptr) return missing("sequence, query or output");
        return sequence->sequence.attend(layer, {query, numbers}, {output, numbers});
    });
}

int32_t hbf_kv_truncate(hbf_kv_sequence *sequence, uint64_t tokens, hbf_kv_message message) noexcept {
    return guarded(message, [&]() -> Result<> {
        if (sequence == nullptr) return missing("sequence");
        return sequence->sequence.truncate(tokens);
    });
}

int32_t hbf_kv_move_to(hbf_kv_sequence *sequence, uint32_t tier, uint64_t *moved, hbf_kv_message message) noexcept {
    return guarded(message, [&]() -> Result<> {
        if (sequence == nullptr) return missing("sequence");
        if (tier >= tier_count) return fail(Code::invalid, fmt::format("there is no tier {}", tier));
        auto there = sequence->sequence.move_to(static_cast<Tier>(tier));
        if (!there) return tl::unexpected(there.error());
        if (moved != nullptr) *moved = *there;
        return {};
    });
}

int32_t hbf_kv_pin(hbf_kv_sequence *sequence, uint64_t milliseconds, uint64_t *pinned, hbf_kv_message message) noexcept {
    return guarded(message, [&]() -> Result<> {
        if (sequence == nullptr) return missing("sequence");
        auto done = sequence->sequence.pin(
            std::chrono::milliseconds(std::min<uint64_t>(milliseconds, uint64_t{INT64_MAX} / 1'000'000)));
        if (!done) return tl::unexpected(done.error());
        if (pinned != nullptr) *pinned = *done;
        return {};
    });
}

int32_t hbf_kv_set_query_vector(hbf_kv_sequence *sequence, const float *query, uint64_t numbers,
                                hbf_kv_message message) noexcept {
    return guarded(message, [&]() -> Result<> {
        if (sequence == nullptr || query == nullptr) return missing(sequence == nullptr ? "sequence" : "query");
        return sequence->sequence.set_query_vector({query, numbers});
    });
}
