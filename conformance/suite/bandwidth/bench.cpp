// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/bandwidth/bench.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <unistd.h>

#include "conformance/measure/placement.hpp"
#include "conformance/suite/async/expect.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t granule = 65536, staging_size = 4u << 20, trial_bytes = 1u << 20;
constexpr double longest_pass_s = 0.2;

uint64_t last_level_cache() {
    const long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return size > 0 ? static_cast<uint64_t>(size) : 32u << 20; // a large one where the kernel does not say
}

template <class T>
T good(Result<T> result) {
    if (!result) throw std::runtime_error(result.error().message); // what the device says ends in SuiteTarget
    if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// An odd number of values in a sample: a device that completes every second one too early must not always get the last one
// right, after which nothing more is submitted before the bytes are looked at.
void make_odd(measure::BatchPlan &plan, uint32_t most_ops) {
    const auto batches_of = [&](uint32_t ops) { return static_cast<uint32_t>((plan.ops + ops - 1) / ops); };
    const auto use = [&](uint32_t ops) {
        if (batches_of(ops) % 2 == 0) return false;
        plan.batch_ops = ops;
        plan.batches = batches_of(ops);
        return true;
    };
    for (uint32_t ops = plan.batch_ops; ops >= 1; --ops)
        if (use(ops)) return;
    for (uint32_t ops = plan.batch_ops + 1; ops <= most_ops; ++ops)
        if (use(ops)) return;
}

bool of_cpu(const hbf_tier_info &tier) {
    return tier.reality == HBF_REALITY_EMULATED || tier.media == HBF_MEDIA_DRAM || tier.media == HBF_MEDIA_CXL ||
           tier.media == HBF_MEDIA_FILE;
}

} // namespace

std::vector<Path> paths_out(const Instance &device) {
    std::vector<Path> out;
    const uint32_t host = device.cpu_tier();
    for (const uint32_t tier : device.dma_tiers())
        if (tier != host) out.push_back({host, tier});
    if (out.empty()) out.push_back({host, host});
    return out;
}

std::vector<Path> paths_back(const Instance &device) {
    auto out = paths_out(device);
    for (Path &path : out) std::swap(path.src, path.dst);
    return out;
}

std::string name_of(const Instance &device, Path path) {
    return fmt::format("{}_to_{}", device.tier(path.src).name, device.tier(path.dst).name);
}

double declared_bandwidth(const Instance &device, Path path) {
    const auto a = device.describe(path.src).nominal_bandwidth, b = device.describe(path.dst).nominal_bandwidth;
    const auto least = static_cast<double>(std::min(a, b));
    return path.src == path.dst ? least / 2 : least;
}

double declared_latency_ns(const Instance &device, Path path) {
    const auto a = device.describe(path.src).nominal_latency_ns, b = device.describe(path.dst).nominal_latency_ns;
    return a && b ? static_cast<double>(std::max(a, b)) : 0;
}

bool moved_by_cpus(const Instance &device, Path path) {
    return of_cpu(device.tier(path.src)) && of_cpu(device.tier(path.dst));
}

Bench::Bench(Context &context, const Instance &device, Path path, const BenchPlan &plan)
    : context_(&context), device_(&device), path_(path), regions_(device), access_(device),
      target_(device, plan.depth, plan.commands), seed_(static_cast<uint32_t>(context.seed())),
      before_(measure::read_cpu_use()) {
    const auto room = [&](uint32_t tier) {
        const auto info = device.describe(tier);
        const uint64_t available = info.available ? std::min(info.available, info.capacity) : info.capacity;
        // Two buffers and one for plain copies may lie in one tier, and so may another bench's.
        return available / 8 / granule * granule;
    };
    bytes_ = std::min({plan.bytes, room(path.src), room(path.dst)});
    if (bytes_ < granule)
        context.not_observable(fmt::format("there is no room for test buffers between {} and {}: {} bytes each are needed",
                                           device.tier(path.src).name, device.tier(path.dst).name, granule));
    src_ = buffer_of(regions_.make(path.src, bytes_));
    dst_region_ = regions_.make(path.dst, bytes_);
    dst_ = buffer_of(dst_region_);
    if (!src_.address || !dst_.address)
        staging_ = buffer_of(regions_.make(device.cpu_tier(), std::min(staging_size, bytes_)));
    if (staging_.address) target_.read_by_cpu(staging_);
    fit(plan);
    cold_ = 2 * bytes_ >= 4 * last_level_cache();
    if (!moved_by_cpus(device, path)) return;
    // The plugin's own buffers where the CPU reaches them: the same pages.
    const auto plain = [&](const measure::Buffer &buffer) {
        return buffer.address ? buffer.address : static_cast<std::byte *>(regions_.make(device.cpu_tier(), bytes_).address);
    };
    plain_src_ = plain(src_);
    plain_dst_ = plain(dst_);
    team_ = std::make_unique<measure::ReferenceTeam>(measure::allowed_cpus());
}

void Bench::make_transfer(const BenchPlan &plan) {
    auto batches = measure::plan_batches(bytes_, plan.op_size, target_.depth(), target_.commands());
    make_odd(batches, target_.commands());
    transfer_.emplace(target_, src_, dst_, staging_, bytes_, batches, target_.depth(), seed_);
}

void Bench::fit(const BenchPlan &plan) {
    const uint64_t room = bytes_;
    bytes_ = std::min(room, std::max(granule, std::min(plan.op_size, trial_bytes))); // few commands: each may take long
    for (;;) {
        make_transfer(plan);
        (void)good(transfer_->pass()); // first touch
        const double seconds = std::max(good(transfer_->pass()), 1e-6);
        if (bytes_ == room || seconds > longest_pass_s / 2) return;
        const double fits = static_cast<double>(bytes_) * longest_pass_s / seconds;
        bytes_ =
            fits >= static_cast<double>(room) ? room : std::max(bytes_, static_cast<uint64_t>(fits) / granule * granule);
        ++seed_; // another transfer's generations start anew
        if (bytes_ < room) return make_transfer(plan);
    }
}

void Bench::prepare() {
    good(transfer_->prepare_sample());
}

measure::Sample Bench::time() {
    return good(transfer_->time_sample());
}

void Bench::check(measure::Sample &sample) {
    if (dst_.address)
        access_.refresh(dst_region_, 0, bytes_); // on another queue than the copies: what completed is there for all to see
    good(transfer_->check_sample(sample));
    expect_no_mismatch(*context_, *device_, dst_, sample.mismatch, {seed_, sample.generation, false},
                       fmt::format("a timed copy of {} bytes from {} to {}", bytes_, device_->tier(path_.src).name,
                                   device_->tier(path_.dst).name));
}

double Bench::sample() {
    prepare();
    auto taken = time();
    check(taken);
    return static_cast<double>(transfer_->sample_bytes()) / std::max(taken.wall_seconds, 1e-9);
}

void Bench::reference() {
    if (!team_) return;
    for (const auto kind : {measure::ReferenceCopy::libc_memcpy, measure::ReferenceCopy::streaming})
        for (size_t threads : {size_t{1}, team_->size()}) {
            const double seconds = team_->run(kind, threads, plain_dst_, plain_src_, bytes_, bytes_);
            fastest_ = std::max(fastest_, static_cast<double>(bytes_) / std::max(seconds, 1e-9));
        }
}

bool Bench::contended() const {
    const auto now = measure::read_cpu_use();
    return before_ && now && measure::contention_between(*before_, *now).contended;
}

void expect_no_mismatch(Context &context, const Instance &device, const measure::Buffer &dst,
                        const std::optional<measure::Mismatch> &mismatch, const kernels::PatternKey &key,
                        std::string_view what) {
    context.count_check();
    if (!mismatch) return;
    const auto cause = measure::find_cause(key, dst.size, mismatch->offset, mismatch->expected, mismatch->actual);
    Evidence evidence;
    evidence.fault_class = class_of(cause, fault::not_written);
    evidence.tier = device.tier(tier_of(dst.region)).name;
    evidence.region = region_of(dst.region);
    evidence.offset = mismatch->offset;
    evidence.address = dst.address ? reinterpret_cast<uintptr_t>(dst.address) + mismatch->offset : 0;
    evidence.expected = mismatch->expected;
    evidence.actual = mismatch->actual;
    evidence.width = 4;
    evidence.wrong_bytes = 4 * mismatch->wrong_words;
    evidence.detail = measure::to_string(*mismatch);
    const std::string reason = fmt::format("{}: {}", what, evidence.detail);
    fail(reason, std::move(evidence));
}

void conclude(Context &context, const std::string &metric, const Speed &speed, const std::string &what) {
    const auto summary = measure::summarize(speed.samples);
    Metric out{metric, "B/s", summary.median, speed.samples};
    if (summary.ci95) out.low = summary.ci95->low, out.high = summary.ci95->high;
    context.metric(std::move(out));
    if (speed.reference > 0) context.metric({metric + ".plain_copy", "B/s", speed.reference});
    context.series(distribution_of(metric, "B/s", speed.samples));
    const Judgement verdict = judge_speed(speed);
    context.count_check();
    if (!verdict.note.empty()) context.note(fmt::format("{}: {}", what, verdict.note));
    if (!verdict.fault_class.empty()) fail_as(verdict.fault_class, fmt::format("{}: {}", what, verdict.reason));
}

Series distribution_of(std::string name, std::string unit, const std::vector<double> &samples) {
    Series out{std::move(name), "distribution", std::move(unit), "samples", {}};
    if (samples.empty()) return out;
    const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
    const size_t bars = std::clamp<size_t>(samples.size() / 2, 4, 24);
    const double width = std::max((*most - *least) / static_cast<double>(bars), *most * 1e-6 + 1e-12);
    for (size_t i = 0; i < bars; ++i) out.points.push_back({{}, *least + (static_cast<double>(i) + 0.5) * width, 0});
    for (const double one : samples) {
        const auto bar = static_cast<size_t>((one - *least) / width);
        out.points[std::min(bar, bars - 1)].y += 1;
    }
    return out;
}

} // namespace hbf::conformance
