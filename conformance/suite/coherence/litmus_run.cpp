// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/coherence/litmus_run.hpp"

#include <algorithm>

#include "conformance/litmus/harness.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance::coherence {
namespace {

constexpr uint64_t range_size = 512 * 1024;
static_assert(range_size >= litmus::Arena::smallest_range);

// A region in each tier that promises coherence; the words of a shape lie in one of them, or in several.
struct Ground {
    Ground(const Instance &device, const std::vector<uint32_t> &tiers) : regions(device) {
        for (const uint32_t tier : tiers) {
            infos.push_back(regions.make(tier, range_size, 4096));
            arena.ranges.emplace_back(static_cast<std::byte *>(infos.back().address), range_size);
        }
    }
    Place find(const Instance &device, uint64_t address) const {
        for (const hbf_region_info &info : infos) {
            const auto begin = reinterpret_cast<uintptr_t>(info.address);
            if (address >= begin && address - begin < info.size) return {&device, &info, address - begin};
        }
        return {&device, nullptr};
    }

    Regions regions;
    std::vector<hbf_region_info> infos;
    litmus::Arena arena;
};

std::string dump_text(const litmus::Shape &shape, const litmus::Dump &dump) {
    std::string words;
    for (size_t i = 0; i < dump.registers.size(); ++i) words += fmt::format(" r{}={:#x}", i, dump.registers[i]);
    for (size_t i = 0; i < dump.finals.size(); ++i)
        words += fmt::format(" {}@{:#x}={:#x}", "xyz"[i], dump.addresses[i], dump.finals[i]);
    return fmt::format("{}: {} in batch {}, instance {}, tag {:#x}:{}; {}", to_string(shape), dump.outcome, dump.batch,
                       dump.instance, dump.tag, words, dump.config);
}

[[noreturn]] void fail_shape(Context &context, const litmus::Report &report, const FindPlace &find) {
    const litmus::Shape &shape = *report.shape;
    for (const litmus::Dump &dump : report.dumps) context.note(dump_text(shape, dump));
    const litmus::Dump &first = report.dumps.front();
    const uint64_t impossible = report.histogram.impossible();
    Evidence evidence;
    evidence.fault_class = impossible ? fault::stale : fault::order;
    if (const Place place = find(first.addresses.front()); place.region) {
        evidence.tier = place.device->tier(place.region->tier).name;
        evidence.region = place.region->region;
        evidence.offset = place.offset;
        if (place.region->address) evidence.address = reinterpret_cast<uintptr_t>(at(*place.region, place.offset));
    }
    evidence.expected = first.tag;
    evidence.actual = first.registers.empty() ? first.finals.front() : first.registers.front();
    evidence.width = 8;
    evidence.wrong_bytes = 8 * report.violations();
    evidence.detail = fmt::format("{} ({}): {} seen, {} of {} times {}", shape.name, to_string(shape), first.outcome,
                                  report.violations(), report.histogram.instances,
                                  impossible ? "a word held what nobody had stored there since" : "against its contract");
    std::string reason = evidence.detail;
    fail(std::move(reason), std::move(evidence));
}

void tell(Context &context, const litmus::Report &report) {
    context.note(observation_line(*report.shape, report.histogram));
    for (const litmus::ControlResult &control : report.controls)
        context.note(fmt::format("control {} ({}): {}, seen {} times in {}, {:.3g}/s", control.control->shape.name,
                                 to_string(control.control->shape), control.control->mutation, control.seen,
                                 control.instances, control.rate()));
    context.note(score_line(report));
    context.series(outcomes_of(*report.shape, report.histogram));
    context.metric({.name = "litmus.instances", .unit = "1", .value = static_cast<double>(report.histogram.instances)});
    context.metric({.name = "litmus.confidence", .unit = "1", .value = report.confidence()});
    for (const litmus::ControlResult &control : report.controls)
        context.metric(
            {.name = fmt::format("litmus.control.{}", control.control->shape.name), .unit = "1/s", .value = control.rate()});
}

} // namespace

void need_agents(Context &context, unsigned agents, std::string_view for_what) {
    if (usable_cpus() < agents)
        context.not_observable(fmt::format("{} needs {} CPUs that run at the same time; this process may use {}", for_what,
                                           agents, usable_cpus()));
}

double patience_s(const Context &context) {
    return static_cast<double>(context.scaled(10, 30, 120));
}

Series outcomes_of(const litmus::Shape &shape, const litmus::Histogram &histogram) {
    Series out{.name = std::string(shape.name),
               .kind = "outcomes",
               .x_label = to_string(shape),
               .y_label = "instances",
               .points = {}};
    for (const auto &[seen, count] : histogram.counts)
        out.points.push_back(
            {.label = to_string(shape, seen), .y = static_cast<double>(count), .marked = violates(shape, seen)});
    const auto asked_seen = std::any_of(histogram.counts.begin(), histogram.counts.end(),
                                        [&](const auto &one) { return litmus::asked(shape, one.first); });
    if (!asked_seen) // the outcome in question belongs in the picture, with its zero
        out.points.push_back({.label = to_string(shape.asked.front()), .y = 0, .marked = true});
    return out;
}

void run_shape(Context &context, std::string_view name) {
    const litmus::ShapeTest &test = litmus::test_of(name);
    const auto agents = static_cast<unsigned>(test.shape.agents.size());
    const Instance &device = context.device();
    const std::vector<uint32_t> tiers = mapped_tiers(device, HBF_PROTOCOL_HARDWARE);
    if (tiers.empty()) context.not_supported("no tier is declared coherent between CPUs");
    need_agents(context, agents, fmt::format("{} ({})", test.shape.name, to_string(test.shape)));
    const Ground ground(device, tiers);
    litmus::Harness harness(agents, ground.arena, context.seed());
    const litmus::Report report =
        run_campaign(harness, test, {.least_s = context.budget_s(), .most_s = patience_s(context)}, context.seed());
    judge_shape(context, report, [&](uint64_t address) { return ground.find(device, address); });
}

void judge_shape(Context &context, const litmus::Report &report, const FindPlace &find) {
    tell(context, report);
    context.count_check();
    if (report.finding == litmus::Finding::violated) fail_shape(context, report, find);
    if (report.finding == litmus::Finding::inconclusive)
        context.inconclusive(fmt::format("{} in {} instances, but none of its controls was seen {} times: {}",
                                         report.violations() ? "one violation" : "no violation", report.histogram.instances,
                                         litmus::enough_sightings, score_line(report)));
}

} // namespace hbf::conformance::coherence
