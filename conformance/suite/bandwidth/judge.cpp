// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/bandwidth/judge.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conformance/suite/verdict.hpp"

namespace hbf::conformance {
namespace {

std::string gbs(double value) {
    return fmt::format("{:.4g} GB/s", value * 1e-9);
}

} // namespace

measure::Interval interval_of(const std::vector<double> &samples) {
    const auto summary = measure::summarize(samples);
    return summary.ci95.value_or(measure::Interval{summary.min, summary.max});
}

Judgement judge_speed(const Speed &speed) {
    Judgement out;
    const auto median = measure::summarize(speed.samples).median;
    const auto [low, high] = interval_of(speed.samples);
    if (speed.reference > 0 && low > above_reference * speed.reference) {
        out.fault_class = fault::impossible_speed;
        out.reason =
            fmt::format("{} is {:.2f} times the fastest plain copy of this run ({}): values complete before their bytes "
                        "have moved",
                        gbs(median), median / speed.reference, gbs(speed.reference));
        return out;
    }
    if (speed.declared <= 0) {
        out.note = "no bandwidth is declared for this path: there is no floor for it";
        return out;
    }
    // What stays in a cache does not pass through the medium; how much faster a cache is has its bounds, too.
    const double most = speed.both_ways > 0 ? speed.both_ways : speed.declared;
    if (low > (speed.cold ? above_declared : cache_gain) * most) {
        out.fault_class = fault::impossible_speed;
        out.reason =
            fmt::format("{} is {:.2f} times the declared peak ({}): the bytes did not pass through it, or the figure is "
                        "not the medium's",
                        gbs(median), median / most, gbs(most));
        return out;
    }
    if (!speed.floor) return out;
    const double floor = speed.declared * tolerance;
    if (high < floor * (speed.contended ? contended_share : 1)) {
        out.fault_class = fault::too_slow;
        out.reason = fmt::format("{} is {:.3g} % of the declared {}; {:.0f} % are due{}", gbs(median),
                                 100 * median / speed.declared, gbs(speed.declared), 100 * tolerance,
                                 speed.contended ? ", and others on the machine do not explain a factor of twenty" : "");
    } else if (high < floor) {
        out.note = fmt::format("{} is less than {:.0f} % of the declared {}, but others used the CPUs: nothing follows",
                               gbs(median), 100 * tolerance, gbs(speed.declared));
    }
    return out;
}

Judgement judge_latency(const std::vector<double> &medians_ns, double declared_ns, bool contended) {
    Judgement out;
    if (declared_ns <= 0) {
        out.note = "no latency is declared for this path: there is no ceiling for it";
        return out;
    }
    const double ceiling = slow_latency * declared_ns + slow_start_ns;
    const auto [low, high] = interval_of(medians_ns);
    if (low <= ceiling / (contended ? contended_share : 1)) {
        if (low > ceiling) out.note = "slower than declared, but others used the CPUs: nothing follows";
        return out;
    }
    out.fault_class = fault::too_slow;
    out.reason =
        fmt::format("half of the copies took {:.4g} us or more; {:.4g} us are declared, and {:.4g} us would still do",
                    low * 1e-3, declared_ns * 1e-3, ceiling * 1e-3);
    return out;
}

} // namespace hbf::conformance
