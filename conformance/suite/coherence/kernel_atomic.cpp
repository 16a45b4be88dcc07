// SPDX-License-Identifier: Apache-2.0
// Atomicity with kernels: additions of many work-items lose nothing, and no 8-byte word is seen half written between a
// kernel and the host.
#include "conformance/litmus/access.hpp"
#include "conformance/suite/coherence/kernel_runner.hpp"
#include "conformance/suite/coherence/litmus_run.hpp"
#include "kernels/device/litmus_add.h"
#include "kernels/device/litmus_tear.h"

namespace hbf::conformance {
namespace {

using namespace coherence;
namespace kernels = hbf::kernels::device;

constexpr uint32_t updates = HBF_KERNEL_READS | HBF_KERNEL_WRITES;
constexpr uint32_t counters = 8, groups = 4, items = 16;

// Runs additions and says how many are missing from the sum.
class Additions {
public:
    Additions(Context &context, const Instance &device, const KernelAgent &kernel, uint32_t tier)
        : device_(device), kernel_(kernel), regions_(device), words_(regions_.make(tier, 4096, 64)), access_(device),
          queue_(device), random_(context.seed() + tier) {}

    int64_t missing(bool split) {
        const uint32_t group_size = kernel_.group_size(items), stride = random_.below(2) ? 4u : 128u;
        access_.write(words_, 0, std::vector<std::byte>(words_.size));
        const kernels::litmus_add_arguments arguments{random_(), counters, turns_, stride, split ? 1u : 0u};
        Launch launch = kernel_.launch(arguments, {buffer_of(words_, updates)}, groups, group_size);
        const auto begin = measure::Clock::now();
        device_.must_run(queue_, {launch.command()});
        const std::vector<std::byte> bytes = access_.read(words_, 0, words_.size);
        int64_t sum = 0;
        for (uint32_t i = 0; i < counters; ++i) {
            uint32_t word = 0;
            std::memcpy(&word, bytes.data() + uint64_t{i} * stride, sizeof word);
            sum += word;
        }
        added += uint64_t{groups} * group_size * turns_;
        const int64_t due = int64_t{groups} * group_size * turns_;
        if (elapsed(begin) < 0.002 && turns_ < 1u << 20) turns_ *= 4; // long enough for groups to meet
        return due - sum;
    }
    Place place() const { return {&device_, &words_}; }
    uint64_t added = 0;

private:
    const Instance &device_;
    const KernelAgent &kernel_;
    Regions regions_;
    const hbf_region_info words_;
    ByteAccess access_;
    Queue queue_;
    Random random_;
    uint32_t turns_ = 64;
};

// Words whose halves are alike, stored by one side while the other looks.
class Tearing {
public:
    Tearing(Context &context, const Instance &device, const KernelAgent &kernel, uint32_t tier)
        : context_(context), device_(device), kernel_(kernel), regions_(device), words_(regions_.make(tier, count * 8, 64)),
          result_(regions_.make(tier, 4096, 64)), access_(device), queue_(device), random_(context.seed() + tier) {
        access_.write(words_, 0, std::vector<std::byte>(words_.size));
    }

    struct Count {
        uint64_t loaded = 0, torn = 0;
    };
    Count kernel_stores(bool split) {
        const uint64_t value = begin(true, split);
        Count out;
        while (running(value))
            for (uint32_t i = 0; i < count; ++i) {
                const uint64_t seen = word(i).load(std::memory_order_relaxed);
                ++out.loaded;
                if (static_cast<uint32_t>(seen) != seen >> 32) note(out, i, seen);
            }
        static_cast<void>(end(value));
        return out;
    }
    Count kernel_loads(bool split) {
        const uint64_t value = begin(false, false);
        for (auto half = static_cast<uint32_t>(random_()); running(value); half += 0x9e3779b1u)
            for (uint32_t i = 0; i < count; ++i) store(i, half + i, split);
        const kernels::litmus_tear_result result = end(value);
        Count out{result.loaded, 0};
        if (result.torn != 0) note(out, result.number, result.seen);
        out.torn = result.torn;
        return out;
    }
    Place place() const { return {&device_, &words_, 8 * number_}; }
    uint64_t seen() const { return seen_; } // the first torn word

private:
    static constexpr uint32_t count = 64;

    std::atomic_ref<uint64_t> word(uint64_t i) const {
        return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t *>(at(words_, 8 * i)));
    }
    void store(uint32_t i, uint32_t half, bool split) const {
        if (!split) return word(i).store(uint64_t{half} << 32 | half, std::memory_order_relaxed);
        auto *const halves = reinterpret_cast<uint32_t *>(at(words_, uint64_t{8} * i));
        std::atomic_ref<uint32_t>(halves[0]).store(half, std::memory_order_relaxed);
        litmus::delay(half % 64);
        std::atomic_ref<uint32_t>(halves[1]).store(half, std::memory_order_relaxed);
    }
    void note(Count &out, uint64_t number, uint64_t seen) {
        if (out.torn++ == 0) number_ = number, seen_ = seen;
    }
    uint64_t begin(bool stores, bool split) {
        for (uint32_t i = 0; i < count; ++i) word(i).store(0, std::memory_order_relaxed);
        const kernels::litmus_tear_arguments arguments{
            count, turns_, stores ? 1u : 0u, split ? 1u : 0u, HBF_LITMUS_SYSTEM, static_cast<uint32_t>(random_())};
        Launch launch = kernel_.launch(arguments, {buffer_of(words_, updates), buffer_of(result_, HBF_KERNEL_WRITES)}, 1, 1);
        begun_ = measure::Clock::now();
        return device_.must_submit(queue_, {launch.command()});
    }
    bool running(uint64_t value) const { return device_.poll(queue_).completed < value && elapsed(begun_) < 10; }
    kernels::litmus_tear_result end(uint64_t value) {
        device_.must_complete(queue_, value);
        if (elapsed(begun_) < 0.002 && turns_ < 1u << 20) turns_ *= 4;
        kernels::litmus_tear_result result{};
        const std::vector<std::byte> bytes = access_.read(result_, 0, sizeof result);
        std::memcpy(&result, bytes.data(), sizeof result);
        if (result.lacks & HBF_LITMUS_NO_SCOPE)
            context_.not_observable("the kernel was built without a scope that takes in the host (OpenCL C 3.0: "
                                    "__opencl_c_atomic_scope_all_devices)");
        return result;
    }

    Context &context_;
    const Instance &device_;
    const KernelAgent &kernel_;
    Regions regions_;
    const hbf_region_info words_, result_;
    ByteAccess access_;
    Queue queue_;
    Random random_;
    measure::Clock::time_point begun_;
    uint32_t turns_ = 64;
    uint64_t number_ = 0, seen_ = 0;
};

void tear_both_ways(Context &context, Tearing &tearing, double least_s, double most_s, const char *tier) {
    const auto begin = measure::Clock::now();
    for (auto side : {&Tearing::kernel_stores, &Tearing::kernel_loads}) {
        const bool stores = side == &Tearing::kernel_stores;
        Sightings sightings{stores ? "tearing' (a kernel stores a half at a time)"
                                   : "tearing' (the host stores a half at a time)"};
        uint64_t loaded = 0;
        const auto side_begin = measure::Clock::now();
        for (unsigned round = 0;
             round < 3 || elapsed(side_begin) < least_s / 2 || (!sightings.enough() && elapsed(begin) < most_s); ++round) {
            const Tearing::Count sound = (tearing.*side)(false);
            loaded += sound.loaded;
            context.count_check();
            if (sound.torn != 0)
                fail_at(fault::torn, tearing.place(),
                        fmt::format("{} saw the halves of two 8-byte stores of {} in one word: {:#018x}; {} of {}",
                                    stores ? "the host" : "a kernel", stores ? "a kernel's" : "the host's", tearing.seen(),
                                    sound.torn, sound.loaded));
            if (sightings.enough()) continue;
            const Tearing::Count split = (tearing.*side)(true);
            sightings.seen += split.torn;
            sightings.tries += split.loaded;
        }
        context.note(fmt::format("{}: 0 of {} words that {} were torn", tier, loaded,
                                 stores ? "a kernel stored" : "a kernel loaded"));
        require_seen(context, sightings);
    }
}

} // namespace

HBF_CASE("coherence.host_kernel.no_tearing_64bit", {.rules = {"HBF-COH-1", "HBF-COH-4"},
                                                    .kills = {"shared_halves_written_back"},
                                                    .needs = need::cpu_tier | need::coherence | need::atomics | need::launch,
                                                    .budget_s = 0.1,
                                                    .limit_s = 60}) {
    const Instance &device = context.device();
    const KernelAgent kernel(context, device, "litmus_tear/1");
    const std::vector<uint32_t> tiers = atomic_with_kernels(device);
    if (tiers.empty()) context.not_supported("no coherent tier declares 8-byte atomics between CPUs and kernels");
    need_cpu_beside_kernel(context);
    const auto share = static_cast<double>(tiers.size());
    for (const uint32_t tier : tiers) {
        Tearing tearing(context, device, kernel, tier);
        tear_both_ways(context, tearing, context.budget_s() / share, patience_s(context) / share, device.tier(tier).name);
    }
}

HBF_CASE(
    "coherence.kernel_kernel.add_sum",
    {.rules = {"HBF-COH-4"}, .kills = {"kernel_addition_lost"}, .needs = need::launch, .budget_s = 0.1, .limit_s = 60}) {
    const Instance &device = context.device();
    const KernelAgent kernel(context, device, "litmus_add/1");
    const std::vector<uint32_t> tiers = kernel_tiers(device);
    if (tiers.empty()) context.not_supported("no tier is reached by both kernels and commands");
    need_groups(context, kernel, 2, "the control, additions in two steps,");
    for (const uint32_t tier : tiers) {
        Additions additions(context, device, kernel, tier);
        Sightings sightings{"atomicity' (load, then store)"};
        const auto begin = measure::Clock::now();
        const double share = static_cast<double>(tiers.size()), least = context.budget_s() / share,
                     most = patience_s(context) / share;
        for (unsigned round = 0; round < 4 || elapsed(begin) < least || (!sightings.enough() && elapsed(begin) < most);
             ++round) {
            const int64_t missing = additions.missing(false);
            context.count_check();
            if (missing != 0)
                fail_at(fault::lost_update, additions.place(),
                        fmt::format("{} of {} atomic additions by work-items of {} groups are {}", std::abs(missing),
                                    additions.added, groups, missing > 0 ? "missing" : "too many"));
            if (!sightings.enough()) sightings.count(additions.missing(true) != 0);
        }
        context.note(fmt::format("{}: none of {} additions is missing", device.tier(tier).name, additions.added));
        require_seen(context, sightings);
    }
}

} // namespace hbf::conformance
