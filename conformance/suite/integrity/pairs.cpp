// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/integrity/pairs.hpp"

#include "conformance/integrity/present.hpp"

namespace hbf::conformance {

uint32_t data_seed(const Context &context) {
    return static_cast<uint32_t>(context.seed() ^ context.seed() >> 32) | 1u;
}

void judge(Context &context, const integrity::Tally &tally) {
    context.metric({.name = "integrity.bits_compared", .unit = "bits", .value = tally.bits_compared()});
    context.metric({.name = "integrity.errors", .unit = "events", .value = static_cast<double>(tally.incidents)});
    context.count_check();
    for (auto &series : integrity::series_of(tally)) context.series(std::move(series));
    if (tally.wrong_words() == 0 && tally.crc_wrong == 0) return;
    auto evidence = integrity::evidence_of(tally, 4);
    std::string reason =
        fmt::format("{} wrong bits in {} words; {}", tally.wrong_bits(), tally.wrong_words(), tally.verdict());
    const bool only_crc = tally.wrong_words() == 0;
    if (only_crc) {
        reason = fmt::format("{} of {} checksums of the engine are not those of the bytes in the source, though the "
                             "destination is right",
                             tally.crc_wrong, tally.crc_checked);
        Evidence one;
        one.fault_class = fault::wrong_value;
        one.detail = reason;
        evidence = {one};
    }
    if (!tally.records.empty()) reason += fmt::format("; first: {}", to_string(tally.records.front()));
    if (tally.crc_checked && !only_crc)
        reason +=
            fmt::format("; {} of {} checksums of the engine differ from the source's", tally.crc_wrong, tally.crc_checked);
    throw Verdict{Status::fail, reason, std::move(evidence)};
}

void every_pair(Context &context, uint64_t bytes, const std::function<void(integrity::Route &)> &body) {
    auto &device = context.device();
    integrity::Tally tally;
    integrity::Arena arena(device, device.dma_tiers(), bytes);
    // What only commands reach is looked at by the device where it has a kernel for it; data is written by copies, which are
    // under test.
    arena.verify_by(integrity::VerifyBy::choice, false, data_seed(context));
    for (const auto &texts : {arena.skipped(), arena.notes()})
        for (const auto &text : texts) context.note(text);
    for (const auto &place : arena.places())
        if (arena.verifier(place.tier)) context.note(fmt::format("{}: verified by kernel", device.tier(place.tier).name));
    if (arena.places().empty()) context.not_observable("no tier has room for two regions of 64 KiB");
    for (const auto &from : arena.places()) {
        for (const auto &to : arena.places()) {
            integrity::Route route(arena, from, to, tally, {});
            route.poison(data_seed(context));
            body(route);
            context.count_check();
            if (tally.wrong_words() != 0 || tally.crc_wrong != 0) return judge(context, tally); // the rest can be spared
        }
    }
    judge(context, tally);
}

void run_pattern(integrity::Route &route, integrity::Pattern pattern, uint32_t seed, uint32_t generations) {
    uint32_t written = 0;
    for (uint32_t generation = 0; generation < generations; ++generation)
        for (uint32_t pass = 0; pass < integrity::info_of(pattern).passes; ++pass)
            route.pass({pattern, pass, seed, ++written});
}

} // namespace hbf::conformance
