// SPDX-License-Identifier: Apache-2.0
// How long one granule takes to move, and where the time goes.
#pragma once

#include <cstddef>

#include "conformance/measure/histogram.hpp"

namespace hbf::measure {

struct LatencyPlan {
    uint64_t granule = 64 << 10; // bytes
    double seconds = 0.2;        // at most
    size_t most = 2000;          // copies at most
    bool hot = false;            // always the same granule; else a random one to a random one
    double rate = 0;             // copies a second offered, whether or not the last is done (open loop); 0: closed loop
};

// Nanoseconds. In an open loop `total` begins when a copy was due, not when it could start: a copy that waits for a slow one
// before it has waited, and is not left out.
struct Latency {
    Histogram total;
    Histogram submit;   // lookup of the regions, checks, handing over to the device
    Histogram movement; // from then until wait() returns: the bytes moved, and the device's stores drained
    Histogram visible;  // from then until the CPU has read both ends of the destination; empty where it has no address
    double seconds = 0; // of all copies

    double per_second() const { return seconds > 0 ? static_cast<double>(total.count()) / seconds : 0; }
};

} // namespace hbf::measure
