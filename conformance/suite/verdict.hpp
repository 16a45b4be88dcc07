// SPDX-License-Identifier: Apache-2.0
// What a case can come to, and what it shows for it: plain data, made by a case and read by every report.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hbf::conformance {

// The suite never guesses: a case that could not decide says so.
enum class Status : uint8_t {
    pass,
    fail,
    not_supported,   // needs what the plugin does not declare
    not_observable,  // this machine is too small for it; the reason says what it would need
    inconclusive,    // its control was not seen often enough: nothing is proven either way
    warn_quality,    // passed, but ...
    warn_capability, // undeclared, yet works
    waived,          // failed, and a valid waiver covers it
    xfail,           // failed as a waiver marked "must_fail" expects
    xpass,           // passed under a waiver: the waiver is out of date
    crash,           // the process ended by a signal, or without a record
    timeout,         // stopped by the watchdog
    device_lost,
    internal_error, // of the suite: no check made, record and exit status disagree, an exception of its own
    not_run,
    interrupted,
};
std::string_view to_string(Status status); // "not_supported"
Status status_from(std::string_view text); // internal_error if there is none of that name
// pass, not_supported, not_observable, warn_*, waived, xfail. Inconclusive is neither conformant nor a failure.
bool conformant(Status status);
// fail, crash, timeout, device_lost, internal_error, xpass
bool failed(Status status);

struct Metric {
    std::string name;                 // "bandwidth.copy", "integrity.bits_compared"
    std::string unit;                 // "B/s", "bits", "ns", "1/s"
    double value = 0;                 // headline: the median where there are samples
    std::vector<double> samples = {}; // all of them
    double low = 0, high = 0;         // 95 % confidence interval of `value`; 0, 0: none
};

// A plot of the reports.
struct Series {
    struct Point {
        std::string label = {}; // of a bar; else x counts
        double x = 0, y = 0;
        bool marked = false; // forbidden outcome, wrong lane
    };
    std::string name;
    std::string kind; // "outcomes", "lanes", "sweep", "distribution"
    std::string x_label, y_label;
    std::vector<Point> points;
};

// Where and how a byte was wrong: the first screen of a report shows these fields. `fault_class` is one of fault:: below.
struct Evidence {
    std::string fault_class;
    std::string tier;     // name, "" if no tier is at fault
    uint64_t region = 0;  // handle, 0 none
    uint64_t offset = 0;  // bytes in the region, of the first wrong byte
    uint64_t address = 0; // CPU address, 0 none
    uint64_t expected = 0, actual = 0;
    uint32_t width = 0;       // bytes of expected and actual that count; 0: they say nothing
    uint64_t wrong_bytes = 0; // in all
    std::string detail;       // one sentence: "bit 13 of the word reads 0, three re-reads agree: stored or written wrong"
};

// Classes of faults, as reports name them.
namespace fault {
inline constexpr std::string_view bit_flip = "bit flip", stuck_lane = "stuck lane", stale = "stale", misplaced = "misplaced",
                                  not_written = "not written", short_transfer = "short transfer", torn = "torn",
                                  guard = "write out of bounds", early_completion = "early completion",
                                  never_completes = "never completes", order = "order", lost_update = "lost update",
                                  wrong_value = "wrong value", wrong_status = "wrong status", swallowed = "swallowed error",
                                  leak = "leak", contract = "contract", visibility = "not visible",
                                  read_error = "read error", impossible_speed = "impossible speed", too_slow = "too slow";
} // namespace fault

} // namespace hbf::conformance
