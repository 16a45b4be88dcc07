// SPDX-License-Identifier: Apache-2.0
// What a run found out. Reports (text, JSON, CSV) are made from it and from nothing else.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conformance/measure/contention.hpp"
#include "conformance/measure/placement.hpp"
#include "conformance/measure/reference.hpp"
#include "conformance/measure/statistics.hpp"
#include "conformance/measure/transfer.hpp"
#include "tools/bandwidth/environment.hpp"
#include "tools/bandwidth/rows.hpp"

namespace hbf::tools::bandwidth {

enum class Status {
    pass,
    fail,    // wrong data, an impossible figure, below a sourced floor
    error,   // the device or the run refused: nothing is known
    skipped, // nothing to test: no room in the tier
};
std::string to_string(Status status);

// Two seconds a row where there are many: a matrix of three tiers with kernels has thirty.
constexpr double default_seconds(bool sweep, size_t rows) {
    return std::max(sweep ? 60.0 : 20.0, 2.0 * static_cast<double>(rows));
}

struct SampleRecord {
    measure::Sample sample;
    std::optional<measure::Contention> contention;
};

struct LatencySeries {
    std::string name;   // "cold, closed loop"
    double offered = 0; // copies a second, 0: closed loop
    measure::Latency latency;
};

struct ReferenceSeries {
    measure::ReferenceCopy kind{};
    size_t threads = 1;
    std::vector<double> gbs;
};

struct Floor {
    double gbs = 0;
    std::string profile, source, date;
};

enum class PageCache { not_used, bypassed, hot, unknown }; // of storage rows, from the bytes that reached the device

struct Row {
    RowSpec spec;
    std::string src, executor, dst; // names for people
    bool emulated = false, storage = false;
    Status status = Status::pass;
    std::string reason; // why it is not a pass

    uint64_t bytes = 0, op_size = 0, sample_bytes = 0; // of each buffer, of a command, moved in a sample
    uint32_t depth = 0, batch_ops = 0;
    uint64_t wanted_bytes = 0; // for the cache to be defeated
    bool cache_hot = false;
    size_t warmup_passes = 0;
    bool warmup_stable = false;

    std::vector<SampleRecord> samples;
    std::vector<double> gbs, wall_gbs; // a sample each; 1e9 bytes/s
    measure::Summary queue, wall;      // of gbs, wall_gbs
    double overhead_us = 0;            // median of wall less queue clock, a sample
    std::string stopped;               // which rule ended sampling
    bool interrupted = false;
    const char *sampled = "samples"; // what gbs holds one of each: "launches" over several processes
    size_t contended = 0;            // of them

    std::vector<ReferenceSeries> references;
    struct Compared {
        size_t reference = 0; // in references
        double gbs = 0;       // its median
        double share = 0;     // of it that the row reached, 1 for all
    };
    std::optional<Compared> one_thread, all_threads; // the best reference on one thread, and on one thread a CPU

    struct Limit {                 // what the slower of its tiers can do at most, as declared
        double gbs = 0, share = 0; // share of it that the row reached
        std::string tier;
    };
    std::optional<Limit> limit;

    std::optional<Floor> floor;
    std::vector<std::string> notes, causes;

    measure::CpuPlace cpu;
    bool bound = false;
    std::map<int, size_t> src_pages, dst_pages;    // by node
    uint64_t src_page_size = 0, dst_page_size = 0; // as the kernel says
    std::string pages_asked = "best";
    PageCache page_cache = PageCache::not_used;

    std::vector<LatencySeries> latencies;                                 // of 64 KiB, the first is cold in a closed loop
    bool is_contended() const { return contended * 10 > samples.size(); } // more than a tenth of the samples
};

struct Run {
    std::vector<Row> rows;
    std::string started; // UTC, ISO 8601
    std::string libhbf_version;
    uint64_t seed = 0;
    double elapsed_seconds = 0;
    Environment environment;
    std::vector<std::string> notes; // what holds for all rows
    bool interrupted = false;
    bool unjudged = false; // floors were asked for, and no row has one
};

} // namespace hbf::tools::bandwidth
