// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>

#include "conformance/integrity/bound.hpp"
#include "conformance/integrity/corruption.hpp"
#include "core/output/json.hpp"

namespace hbf::integrity {
namespace {

constexpr std::string_view rereads[] = {"same", "right", "different"};
constexpr std::string_view outcomes[] = {"pass", "fail", "undecided", "nothing_to_test", "interrupted"};

std::string hex(uint64_t value) {
    return fmt::format("{:#x}", value);
}

Json json_of(const PairTally &pair) {
    return Json::object({{"from", pair.from},
                         {"to", pair.to},
                         {"emulated", pair.emulated},
                         {"verified_by", pair.verified_by},
                         {"region_bytes", pair.region_bytes},
                         {"bytes_compared", pair.bytes},
                         {"wrong_words", pair.wrong_words},
                         {"seconds", pair.seconds},
                         {"bytes_reached", pair.reached},
                         {"capacity", pair.capacity},
                         {"coverage", pair.coverage()}});
}

Json json_of(const ErrorRecord &r) {
    auto again = Json::array();
    for (const auto value : r.again) again.push(hex(value));
    auto out = Json::object({{"pattern", info_of(r.datum.pattern).name},
                             {"pass", r.datum.pass},
                             {"generation", r.datum.generation},
                             {"seed", r.datum.seed},
                             {"from", r.from},
                             {"to", r.to},
                             {"agent", r.agent},
                             {"region", hex(r.region)},
                             {"offset", r.offset},
                             {"granule", r.offset / 65536},
                             {"expected", hex(r.expected)},
                             {"actual", hex(r.actual)},
                             {"xor", hex(r.expected ^ r.actual)},
                             {"rereads", again},
                             {"reread", rereads[static_cast<size_t>(r.reread)]},
                             {"source_right", r.source_right},
                             {"fault_class", r.origin.fault_class},
                             {"origin", r.origin.text},
                             {"at_s", r.at_s}});
    out.set("address", r.cpu_address ? Json(hex(r.cpu_address)) : Json());
    out.set("right_when_repeated", Json(r.repeat)).set("belongs_at", Json(r.origin.address));
    out.set("celsius", Json(r.temperature));
    return out;
}

Json json_of(const Lanes &lanes) {
    auto by_width = Json::object();
    for (const unsigned width : {8u, 64u, 256u, 512u}) {
        auto list = Json::array();
        for (const auto &lane : lanes.lanes(width))
            if (lane.all()) list.push(Json::object({{"lane", lane.lane}, {"up", lane.up}, {"down", lane.down}}));
        by_width.set(std::to_string(width), list);
    }
    auto pages = Json::object();
    for (const uint64_t size : {uint64_t{4096}, uint64_t{65536}, uint64_t{2} << 20}) {
        auto list = Json::array();
        for (const auto &[page, count] : lanes.pages(size))
            list.push(Json::object({{"offset", page * size}, {"words", count}}));
        pages.set(std::to_string(size), list);
    }
    return Json::object({{"wrong_words", lanes.words()},
                         {"wrong_bits", lanes.bits()},
                         {"bits_0_to_1", lanes.up()},
                         {"bits_1_to_0", lanes.down()},
                         {"words_by_flips", Json::array_of(lanes.flips_per_word())},
                         {"words_by_place_in_line", Json::array_of(lanes.words_in_line())},
                         {"lanes", by_width},
                         {"pages", pages}});
}

Json json_of(const Counters &before, const Counters &after) {
    auto out = Json::array();
    for (const auto &[name, value] : before) {
        auto one = Json::object({{"name", name}, {"before", value}});
        for (const auto &[other, now] : after)
            if (other == name) one.set("after", now);
        out.push(one);
    }
    return out;
}

} // namespace

std::string corruption_json(const CorruptionRun &run, const std::vector<std::string> &command_line) {
    const auto &tally = run.tally;
    auto pairs = Json::array(), errors = Json::array(), names = Json::array();
    for (const auto &pair : tally.pairs) pairs.push(json_of(pair));
    for (const auto &record : tally.records) errors.push(json_of(record));
    for (const auto pattern : run.patterns) names.push(info_of(pattern).id);
    auto classes = Json::object();
    for (const auto &[name, count] : tally.classes) classes.set(name, count);
    const double bits = tally.bits_compared();
    auto out = Json::object(
        {{"schema", "hbf.corruption"},
         {"schema_version", 1},
         {"command_line", Json::array_of(command_line)},
         {"outcome", outcomes[static_cast<size_t>(outcome_of(run))]},
         {"outcome_text", outcome_text(run)},
         {"interrupted", run.interrupted},
         {"emulated", run.emulated},
         {"plugin", Json::object({{"name", run.plugin}, {"version", run.plugin_version}, {"path", run.plugin_file}})},
         {"device", Json::object({{"id", run.device}, {"name", run.device_name}})},
         {"inject", run.inject},
         {"self_test", run.self_test},
         {"self_test_passed", run.self_test_passed},
         {"seed", run.options.seed},
         {"patterns", names},
         {"plan", run.plan},
         {"iterations", run.iterations},
         {"seconds", run.seconds},
         {"bits_compared", bits},
         {"incidents", tally.incidents},
         {"crc_checked", tally.crc_checked},
         {"crc_wrong", tally.crc_wrong},
         {"verify", to_string(run.options.verify)},
         {"kernel", Json::object({{"wrong_words", tally.kernel_wrong_words},
                                  {"bits_0_to_1", Json::array_of(tally.kernel_up)},
                                  {"bits_1_to_0", Json::array_of(tally.kernel_down)}})},
         {"verdict", tally.verdict()},
         {"bound", bound_text(tally.incidents, bits)}});
    auto bounds = Json::array();
    for (const double confidence : {0.95, 0.999}) {
        if (bits <= 0) break;
        bounds.push(
            Json::object({{"confidence", confidence}, {"rate_below", poisson_upper(tally.incidents, confidence) / bits}}));
    }
    out.set("bounds", bounds).set("pairs", pairs).set("fault_classes", classes).set("aggregate", json_of(tally.lanes));
    out.set("errors", errors).set("errors_kept_at_most", Tally::most_records);
    out.set("counters", json_of(run.counters_before, run.counters_after)).set("notes", Json::array_of(run.notes));
    return out.dump();
}

} // namespace hbf::integrity
