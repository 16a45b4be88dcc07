// SPDX-License-Identifier: Apache-2.0
// A path between two tiers, made ready to be measured: buffers, a queue, verified transfers, plain copies in turn with them.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "conformance/measure/contention.hpp"
#include "conformance/measure/reference.hpp"
#include "conformance/measure/transfer.hpp"
#include "conformance/suite/bandwidth/judge.hpp"
#include "conformance/suite/bandwidth/suite_target.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {

// From `src` to `dst`, tier indices.
struct Path {
    uint32_t src = 0, dst = 0;
};
// Between the tier that the host works in and every other one that commands reach; inside it if there is no other.
std::vector<Path> paths_out(const Instance &device);
std::vector<Path> paths_back(const Instance &device);
std::string name_of(const Instance &device, Path path); // "dram0_to_storage0", part of a metric's name

// The smaller of both tiers' declared bandwidths, half of it inside one tier, where each byte is read and written; 0 unless
// both declare one.
double declared_bandwidth(const Instance &device, Path path);
double declared_latency_ns(const Instance &device, Path path); // of the slower one; 0 unless both declare one

// CPUs move the bytes at both ends, so that plain copies are a measure of what is possible.
bool moved_by_cpus(const Instance &device, Path path);

struct BenchPlan {
    uint64_t bytes = 64u << 20; // of each buffer, at most; less where the tier is small or slow
    uint64_t op_size = 4u << 20;
    uint32_t depth = 8;
    uint32_t commands = 64;
};

class Bench {
public:
    Bench(Context &context, const Instance &device, Path path, const BenchPlan &plan);

    measure::Transfer &transfer() { return *transfer_; }
    Path path() const { return path_; }
    std::string name() const { return name_of(*device_, path_); }
    bool cold() const { return cold_; }

    double sample();  // B/s of one checked sample; ends the case if a byte is wrong
    void reference(); // one round of plain copies of the same bytes; nothing where CPUs do not move the bytes
    double fastest_reference() const { return fastest_; } // B/s, 0: none
    // The three steps of a sample, for two that run at once.
    void prepare();
    measure::Sample time();
    void check(measure::Sample &sample);

    bool contended() const; // others used the CPUs since construction

private:
    void fit(const BenchPlan &plan); // no more bytes than pass in a fifth of a second
    void make_transfer(const BenchPlan &plan);

    Context *context_;
    const Instance *device_;
    Path path_;
    Regions regions_;
    ByteAccess access_;
    SuiteTarget target_;
    hbf_region_info dst_region_{};
    measure::Buffer src_, dst_, staging_;
    std::byte *plain_src_ = nullptr, *plain_dst_ = nullptr;
    uint64_t bytes_ = 0;
    bool cold_ = false;
    std::optional<measure::Transfer> transfer_;
    std::unique_ptr<measure::ReferenceTeam> team_;
    double fastest_ = 0;
    uint32_t seed_;
    std::optional<measure::CpuUse> before_;
};

// Ends the case if `mismatch` is one.
void expect_no_mismatch(Context &context, const Instance &device, const measure::Buffer &dst,
                        const std::optional<measure::Mismatch> &mismatch, const kernels::PatternKey &key,
                        std::string_view what);

// Metric with samples and interval; then the verdict.
void conclude(Context &context, const std::string &metric, const Speed &speed, const std::string &what);
Series distribution_of(std::string name, std::string unit, const std::vector<double> &samples);

} // namespace hbf::conformance
