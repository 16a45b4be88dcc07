// SPDX-License-Identifier: Apache-2.0
#include "conformance/engine/campaign.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include <dlfcn.h>
#include <fmt/format.h>

#include "conformance/engine/model.hpp"
#include "hbf/abi/version.h"

namespace hbf::campaign {
namespace {

constexpr uint64_t granule = 64 * 1024;
constexpr size_t most_sequences = 4, most_tokens = 400;

const hbf_plugin *open_plugin(const std::string &file, std::string &why) {
    void *const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return why = ::dlerror(), nullptr;
    const auto query = reinterpret_cast<hbf_plugin_query_fn>(::dlsym(library, HBF_PLUGIN_QUERY_SYMBOL));
    hbf_host_info host{};
    host.struct_size = sizeof host;
    host.abi_min = HBF_ABI_VERSION;
    const hbf_plugin *const plugin = query ? query(HBF_ABI_VERSION, &host) : nullptr;
    if (!plugin) why = file + ": no plugin of this version";
    return plugin;
}

struct Held {
    kv::Sequence sequence;
    std::vector<uint32_t> tokens; // that it has
};

class Player {
public:
    Player(kv::KvCache cache, const Shape &shape, uint64_t seed, Round &round)
        : cache_(std::move(cache)), shape_(shape), dice_(seed), round_(round) {}

    void play(unsigned steps) {
        for (step_ = 0; step_ < steps && round_.wrong.empty(); ++step_) {
            if (held_.empty() || (held_.size() < most_sequences && below(10) == 0)) {
                begin();
                continue;
            }
            Held &one = held_[below(held_.size())];
            switch (below(12)) {
            case 0:
            case 1:
            case 2:
                write(one);
                break;
            case 3:
            case 4:
            case 5:
                read(one);
                break;
            case 6:
                attend(one);
                break;
            case 7:
            case 8:
                count(one.sequence.move_to(static_cast<kv::Tier>(below(3))));
                break;
            case 9:
                fork(one);
                break;
            case 10:
                cut(one);
                break;
            default:
                if (below(2) == 0)
                    drop(one);
                else
                    count(cache_.defragment(static_cast<kv::Tier>(below(3)), 0));
            }
        }
        round_.damaged = cache_.stats().damaged;
    }

private:
    uint64_t below(uint64_t limit) { return dice_() % limit; }

    template <class Outcome>
    bool count(const Outcome &outcome) {
        if (!outcome) ++round_.errors;
        return outcome.has_value();
    }

    void begin() { // with a prompt that others may have begun with
        std::vector<uint32_t> prompt;
        for (uint64_t i = 0, n = below(100); i < n; ++i) prompt.push_back(static_cast<uint32_t>(i + 1000 * below(1)));
        auto made = cache_.sequence(prompt);
        if (!count(made)) return;
        const uint64_t reused = made->reused();
        held_.push_back({std::move(*made), {prompt.begin(), prompt.begin() + static_cast<ptrdiff_t>(reused)}});
        if (reused > 0) read(held_.back());
    }

    void write(Held &one) {
        if (one.tokens.size() >= most_tokens) return;
        std::vector<uint32_t> fresh;
        const bool common = below(2) == 0;
        for (uint64_t i = 0, n = 1 + below(60); i < n; ++i)
            fresh.push_back(common ? static_cast<uint32_t>(one.tokens.size() + i) : static_cast<uint32_t>(below(1 << 20)));
        bool done = count(one.sequence.append(fresh));
        for (uint32_t layer = 0; done && layer < shape_.layers; ++layer) {
            const auto keys = rows(shape_, fresh, one.tokens.size(), layer, true);
            const auto values = rows(shape_, fresh, one.tokens.size(), layer, false);
            done = count(one.sequence.put(layer, std::as_bytes(std::span(keys)), std::as_bytes(std::span(values))));
        }
        if (done) {
            one.tokens.insert(one.tokens.end(), fresh.begin(), fresh.end());
        } else if (!one.sequence.truncate(one.tokens.size())) {
            drop(one);
        }
    }

    void read(Held &one) {
        if (one.tokens.empty()) return;
        const auto layer = static_cast<uint32_t>(below(shape_.layers));
        const uint64_t first = below(one.tokens.size()), n = 1 + below(one.tokens.size() - first);
        std::vector<float> keys(n * shape_.row()), values(n * shape_.row());
        if (!count(one.sequence.read(layer, first, n, std::as_writable_bytes(std::span(keys)),
                                     std::as_writable_bytes(std::span(values)))))
            return;
        const auto wanted = std::span(one.tokens).subspan(first, n);
        if (keys != rows(shape_, wanted, first, layer, true) || values != rows(shape_, wanted, first, layer, false))
            return wrong(fmt::format("tokens {} to {} of layer {} are not those that were put", first, first + n, layer));
        ++round_.answers;
    }

    void attend(Held &one) {
        if (one.tokens.empty()) return;
        const auto layer = static_cast<uint32_t>(below(shape_.layers));
        std::vector<float> query(size_t{shape_.query_heads} * shape_.head_dim), output(query.size());
        for (float &x : query) x = static_cast<float>(static_cast<int64_t>(below(2001)) - 1000) / 1000;
        if (!count(one.sequence.attend(layer, query, output))) return;
        const auto exact = attention(shape_, one.tokens, layer, query);
        double largest = 0, worst = 0;
        for (size_t i = 0; i < exact.size(); ++i) {
            largest = std::max(largest, std::abs(exact[i]));
            worst = std::isfinite(output[i]) ? std::max(worst, std::abs(exact[i] - output[i])) : INFINITY;
        }
        if (!(worst <= 1e-5 * std::max(largest, 1.0)))
            return wrong(fmt::format("attention over {} tokens of layer {} is off by {}", one.tokens.size(), layer, worst));
        ++round_.answers;
    }

    void fork(Held &one) {
        if (held_.size() >= most_sequences) return;
        auto made = one.sequence.fork();
        if (count(made)) held_.push_back({std::move(*made), one.tokens});
    }

    void cut(Held &one) {
        const uint64_t kept = below(one.tokens.size() + 1);
        if (count(one.sequence.truncate(kept))) one.tokens.resize(kept);
    }

    void drop(Held &one) {
        std::swap(one, held_.back());
        held_.pop_back();
    }

    void wrong(std::string what) { round_.wrong = fmt::format("step {}: {}", step_, what); }

    kv::KvCache cache_;
    const Shape shape_;
    std::mt19937_64 dice_;
    Round &round_;
    std::vector<Held> held_;
    unsigned step_ = 0;
};

std::optional<kv::Place> place(Device &device, const std::string &tier, uint64_t bytes) {
    const auto index = device.find_tier(tier);
    if (!index) return std::nullopt;
    return kv::Place{device, *index, bytes};
}

} // namespace

const std::vector<std::string> &faults() {
    static const std::vector<std::string> all = {
        "flip,rate=7",
        "flip,tier=storage0,rate=3",
        "flip,p=0.0000005",
        "stuck,rate=5",
        "drop-tail,bytes=64,rate=5",
        "drop-tail,bytes=4096,rate=3",
        "stale,rate=5",
        "short-read,rate=3",
        "torn,us=20,rate=5",
        "torn,stays=yes,rate=5",
        "not-written,rate=5",
        "early-completion,ms=5,rate=5",
        "device-error,status=data-loss,rate=9",
        "device-error,status=internal,after=40,count=1",
        "device-error,status=exhausted,rate=11",
        "sg-last-entry-dropped,rate=3",
        "sg-order-wrong,rate=3",
        "reorder,rate=5",
        "wait-at-once,rate=5",
        "twice,after=30,count=1",
        "crc-wrong,rate=5;flip,rate=5",
        "offset-off-by-one,rate=6",
        "tail-rounded-to-64,rate=3",
        "device-lost,after=60,count=1",
    };
    return all;
}

Round run_round(const Files &files, uint64_t seed, const std::string &fault, unsigned steps) {
    Round round;
    round.seed = seed;
    std::mt19937_64 dice(seed ^ 0xfau);
    round.fault = fault.empty() ? faults()[dice() % faults().size()] : fault;
    std::string why;
    const hbf_plugin *const plugin = open_plugin(files.wrapper, why);
    if (!plugin) return round.no_device = why, round;
    DeviceOptions options;
    options.litmus = false; // a fault would be met there, and the device refused
    options.options = {{"inject.plugin", files.plugin},
                       {"storage_path", files.folder},
                       {"storage_bytes", "67108864"},
                       {"dram_bytes", "67108864"},
                       {"hbf_bytes", "67108864"}};
    for (size_t at = 0; at <= round.fault.size();) {
        const size_t end = std::min(round.fault.find(';', at), round.fault.size());
        if (end > at)
            options.options.emplace_back("inject.fault", round.fault.substr(at, end - at) + fmt::format(",seed={}", seed));
        at = end + 1;
    }
    auto device = Device::open(plugin, options);
    if (!device) return round.no_device = device.error().message, round;
    const Shape shape;
    kv::CacheOptions cache;
    cache.model.layers = shape.layers;
    cache.model.query_heads = shape.query_heads;
    cache.model.kv_heads = shape.kv_heads;
    cache.model.head_dim = shape.head_dim;
    cache.model.element = kv::Element::fp32;
    cache.settings.kv.chunk_size = 16;
    cache.deadline = std::chrono::milliseconds(500);
    cache.background = seed % 2 == 0;
    cache.show = false;
    cache.hbm = place(*device, "dram0", 40 * granule);
    cache.hbf = place(*device, "hbf0", 60 * granule);
    cache.cold = place(*device, "storage0", 200 * granule);
    auto opened = kv::KvCache::open(cache);
    if (!opened) return round.no_device = opened.error().message, round;
    Player(std::move(*opened), shape, seed, round).play(steps);
    return round;
}

} // namespace hbf::campaign
