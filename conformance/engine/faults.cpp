// SPDX-License-Identifier: Apache-2.0
// Which faults there are to draw from.
#include <random>

#include "conformance/engine/campaign.hpp"
#include "conformance/inject/fault.hpp"

namespace hbf::campaign {

const std::vector<std::string> &drawn_faults() {
    static const std::vector<std::string> all = {
        "flip,rate=7",
        "flip,rate=3",
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

std::vector<std::string> all_faults() {
    std::vector<std::string> names;
    for (const inject::FaultInfo *fault : inject::all_faults()) names.emplace_back(fault->name);
    return names;
}

std::string draw_fault(uint64_t seed) {
    std::mt19937_64 dice(seed ^ 0xfau);
    return drawn_faults()[dice() % drawn_faults().size()];
}

const char *may_end_process(std::string_view fault) {
    struct Reason {
        std::string_view fault;
        const char *why;
    };
    static constexpr Reason reasons[] = {
        {"throws-exception", "an exception goes through the C interface, which is the end of the process"},
        {"services-changed", "the plugin writes a null pointer into the table of functions that the host calls, too"},
    };
    for (const Reason &one : reasons)
        if (one.fault == fault) return one.why;
    return nullptr;
}

} // namespace hbf::campaign
