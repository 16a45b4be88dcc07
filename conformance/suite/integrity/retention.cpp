// SPDX-License-Identifier: Apache-2.0
#include <ctime>

#include "conformance/suite/integrity/pairs.hpp"

namespace hbf::conformance {
namespace {

void idle(double seconds) {
    timespec left{static_cast<time_t>(seconds),
                  static_cast<long>((seconds - static_cast<double>(static_cast<time_t>(seconds))) * 1e9)};
    while (nanosleep(&left, &left) != 0) {
    }
}

} // namespace

// Both polarities rest: cells lose their charge in one direction, and which one depends on the cell. All tiers rest at once.
HBF_CASE("integrity.retention.bit_fade", {.rules = {"HBF-INT-2"},
                                          .kills = {"m30_bit_fade_after_t"},
                                          .needs = need::cpu_tier,
                                          .profile = Profile::soak,
                                          .budget_s = 8,
                                          .limit_s = 120}) {
    const double rest_s = static_cast<double>(context.scaled(400, 10'000, 300'000)) / 1000;
    auto &device = context.device();
    integrity::Tally tally;
    integrity::Arena arena(device, device.dma_tiers(), context.scaled(256u << 10, 16u << 20, 256u << 20));
    for (const auto &text : arena.skipped()) context.note(text);
    if (arena.places().empty()) context.not_observable("no tier has room for two regions of 64 KiB");
    for (uint32_t pass = 0; pass < 2; ++pass) {
        const integrity::Datum datum{integrity::Pattern::bit_fade, pass, data_seed(context), pass + 1};
        std::vector<integrity::Route> routes;
        for (const auto &place : arena.places()) routes.emplace_back(arena, place, place, tally, integrity::Hooks{});
        for (auto &route : routes) {
            route.pass(datum); // what is wrong at once is no matter of time
            if (tally.wrong_words() != 0) return judge(context, tally);
            context.count_check();
        }
        idle(rest_s);
        for (auto &route : routes) {
            route.look(datum);
            context.count_check();
        }
        if (tally.wrong_words() == 0) continue;
        context.note(fmt::format("the bytes were right when written and wrong after {:g} s of rest", rest_s));
        break;
    }
    context.metric({.name = "integrity.rest", .unit = "s", .value = rest_s});
    judge(context, tally);
}

} // namespace hbf::conformance
