// SPDX-License-Identifier: Apache-2.0
// Attention over what a sequence holds of a layer, group of heads by group of heads.
#include <algorithm>

#include <fmt/format.h>

#include "core/engine/blocks/sequence_core.hpp"
#include "core/engine/trace/trace.hpp"

namespace hbf::kv {

void SequenceCore::list(uint32_t number, Attending::Pieces &out) const {
    const Lane &lane = lanes_[number];
    out.clear();
    for (size_t i = 0; i < lane.entries.size(); ++i) {
        const Piece piece = this->piece(lane, i);
        out.push_back({piece.block, piece.tokens});
    }
}

Result<AttendReport> SequenceCore::attend(uint32_t layer, std::span<const float> query, std::span<float> output,
                                          const AttendOptions &options) {
    if (auto fine = check_layer(layer); !fine) return tl::unexpected(fine.error());
    if (auto fine = check_selection(options.selection); !fine) return tl::unexpected(fine.error());
    const Model &model = cache_->model();
    const uint64_t numbers = uint64_t{model.query_heads} * model.head_dim, tokens = query.size() / numbers;
    if (query.size() != output.size() || tokens == 0 || query.size() % numbers != 0)
        return fail(Code::invalid, fmt::format("{} and {} numbers for query and output; {} heads of {} are {} a token",
                                               query.size(), output.size(), model.query_heads, model.head_dim, numbers));
    if (lanes_of(layer)[0].tokens == 0) return fail(Code::invalid, fmt::format("layer {} has no token yet", layer));
    if (tokens > lanes_of(layer)[0].tokens)
        return fail(Code::invalid, fmt::format("{} tokens: layer {} has {}", tokens, layer, lanes_of(layer)[0].tokens));
    AttendReport report;
    report.exact = !options.selective || layer < options.dense_layers;
    if (!report.exact && tokens != 1)
        return fail(Code::invalid, fmt::format("{} tokens: selective attention is of one, the last", tokens));
    if (auto right = verify_layer(layer); !right) return tl::unexpected(std::move(right.error()));
    if (!attending_) attending_ = std::make_unique<Attending>(*cache_);
    const CacheCore::Lease worker(*cache_);
    const trace::Span span("attend");
    if (tokens == 1) ask_relevance(layer, query);
    for (uint32_t group = 0; group < model.head_groups; ++group)
        if (auto done = attend_lane(*worker, layer * model.head_groups + group, query, static_cast<uint32_t>(tokens), output,
                                    options, report);
            !done)
            return tl::unexpected(std::move(done.error()));
    return report;
}

Result<> SequenceCore::attend_lane(Worker &worker, uint32_t lane, std::span<const float> query, uint32_t tokens,
                                   std::span<float> output, const AttendOptions &options, AttendReport &report) {
    const Model &model = cache_->model();
    const uint32_t groups = model.head_groups;
    const size_t numbers = size_t{model.query_heads} * model.head_dim, part = numbers / groups, first = lane % groups * part;
    list(lane, pieces_);
    for (const Attending::Piece &piece : pieces_) cache_->touch(piece.block);
    lane_is_read(lane, report.exact);
    if (!report.exact)
        return attending_->selective(worker, lane, pieces_, options, query.data() + first, output.data() + first, report);
    next_pieces_.clear();
    if (tokens == 1 && attending_->wants_next()) list((lane + 1) % cache_->lanes(), next_pieces_);
    if (groups == 1 || tokens == 1)
        return attending_->exact(worker, pieces_, next_pieces_, query.data() + first, tokens, output.data() + first, report);
    query_.resize(tokens * part), output_.resize(tokens * part);
    for (uint32_t token = 0; token < tokens; ++token)
        std::copy_n(query.data() + token * numbers + first, part, query_.data() + token * part);
    auto done = attending_->exact(worker, pieces_, next_pieces_, query_.data(), tokens, output_.data(), report);
    for (uint32_t token = 0; token < tokens && done; ++token)
        std::copy_n(output_.data() + token * part, part, output.data() + token * numbers + first);
    return done;
}

// What cannot be read now is tried again by who attends.
void SequenceCore::follow(Worker &worker, uint32_t lane) {
    if (!attending_ || !attending_->follows(lane)) return;
    (void)guarded([&]() -> Result<> {
        list(lane, pieces_);
        const Reading reading(worker.reader);
        return attending_->follow(worker, lane, pieces_);
    });
}

} // namespace hbf::kv
