// SPDX-License-Identifier: Apache-2.0
#include "conformance/engine/campaign.hpp"

#include <algorithm>
#include <cmath>
#include <random>

#include <fmt/format.h>

namespace hbf::campaign {
namespace {

constexpr size_t most_sequences = 4, most_tokens = 400;

struct Held {
    kv::Sequence sequence;
    std::vector<uint32_t> tokens; // that it has
};

class Player {
public:
    Player(kv::KvCache cache, const Shape &shape, Round &round)
        : cache_(std::move(cache)), shape_(shape), dice_(round.seed), round_(round) {}

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

    // Without a fault the only errors are of tiers that are not there, and of blocks that somebody moves just then.
    template <class Outcome>
    bool count(const Outcome &outcome) {
        if (outcome) return true;
        ++round_.errors;
        const Code code = outcome.error().code;
        if (round_.fault == no_fault && code != Code::unsupported && code != Code::exhausted && code != Code::busy)
            wrong("an error without a fault: " + outcome.error().message);
        return false;
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

} // namespace

void play(kv::KvCache cache, const Shape &shape, unsigned steps, Round &round) {
    Player(std::move(cache), shape, round).play(steps);
}

} // namespace hbf::campaign
