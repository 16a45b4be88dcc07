// SPDX-License-Identifier: Apache-2.0
#include "core/engine/prefetch/compare.hpp"

#include <algorithm>

#include "core/engine/prefetch/lstm.hpp"
#include "core/engine/prefetch/smart.hpp"

namespace hbf::kv::prefetch {
namespace {

class LastSuccessor {
public:
    struct Reader {
        BlockId last = no_block;
    };
    explicit LastSuccessor(size_t blocks) : successors_(blocks) {}
    void access(Reader &reader, BlockId block) {
        if (reader.last != no_block) successors_.follow(no_block, reader.last, block);
        reader.last = block;
    }
    void end(Reader &) {}
    size_t next(const Reader &reader, std::span<Guess> out) const {
        BlockId at = reader.last;
        for (size_t k = 0; k < out.size(); ++k) {
            at = successors_.last(at);
            if (at == no_block) return k;
            out[k] = {at, 1};
        }
        return out.size();
    }

private:
    Successors successors_;
};

template <class Predictor>
Score score(std::string name, Predictor predictor, std::span<const std::vector<BlockId>> requests, size_t blocks,
            double sure) {
    Score out;
    out.predictor = std::move(name);
    std::vector<uint8_t> made(blocks);
    Successors seen(blocks); // to know branch points
    for (const auto &request : requests) {
        typename Predictor::Reader reader;
        for (size_t i = 0; i < request.size(); ++i) {
            predictor.access(reader, request[i]);
            const std::span ahead = std::span(request).subspan(i + 1, std::min(horizon, request.size() - i - 1));
            for (const BlockId block : ahead) out.reusable += made[block];
            Guess guesses[horizon];
            const size_t count = predictor.next(reader, guesses);
            for (size_t k = 0; k < count; ++k) {
                if (guesses[k].probability < sure || guesses[k].block >= blocks || !made[guesses[k].block]) continue;
                ++out.issued;
                out.right += std::find(ahead.begin(), ahead.end(), guesses[k].block) != ahead.end();
            }
            if (seen.row(request[i]).children >= 2 && !ahead.empty()) {
                ++out.branches;
                out.branches_right += count > 0 && guesses[0].block == ahead[0];
            }
        }
        predictor.end(reader);
        for (size_t i = 0; i < request.size(); ++i) {
            made[request[i]] = 1;
            if (i > 0) seen.follow(no_block, request[i - 1], request[i]);
        }
    }
    return out;
}

} // namespace

std::vector<Score> compare(std::span<const std::vector<BlockId>> requests, size_t blocks, double sure, bool lstm) {
    std::vector<Score> out;
    out.push_back(score("last successor", LastSuccessor(blocks), requests, blocks, 0));
    out.push_back(score("smart", SmartPrefetch(blocks), requests, blocks, sure));
    if (lstm) out.push_back(score("lstm", LstmPrefetch(), requests, blocks, sure));
    return out;
}

} // namespace hbf::kv::prefetch
