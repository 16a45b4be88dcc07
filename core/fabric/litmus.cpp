// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/litmus.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <system_error>
#include <thread>

#include <fmt/format.h>
#include <sched.h>

#include "core/fabric/device_core.hpp"

namespace hbf::fabric {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint64_t copy_trials = 400, cpu_trials = 20'000;
constexpr auto time_limit = std::chrono::milliseconds(20); // for each shape
constexpr uint64_t line = 64, area = 4096;                 // the message moves about over the area's lines

double since(Clock::time_point begin) {
    return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// A region and a queue of the plugin's own, before the device has a number.
class Bench {
public:
    explicit Bench(DeviceCore &device) : device_(device) {}
    ~Bench() {
        AbiError error;
        if (queue_ != nullptr) device_.queue_ext->destroy(queue_, error.out());
        if (region_ != 0) device_.tier_ext->free(device_.instance, region_, error.out());
    }
    Result<> allocate(uint32_t tier) {
        const hbf_alloc_desc desc{sizeof(desc), tier, 2 * area, 0, HBF_PAGES_DEFAULT, 0, {}};
        hbf_region_info info{};
        info.struct_size = sizeof(info);
        AbiError error;
        const hbf_status status = device_.tier_ext->alloc(device_.instance, &desc, &info, error.out());
        if (status != HBF_OK) return tl::unexpected(error.to_error(status, "litmus: a region"));
        region_ = info.region;
        memory_ = static_cast<std::byte *>(info.address);
        return {};
    }
    Result<> make_queue() {
        const hbf_queue_desc desc{sizeof(desc), 1, std::min(device_.queue_info.max_commands, 6u), 0};
        AbiError error;
        const hbf_status status = device_.queue_ext->create(device_.instance, &desc, &queue_, error.out());
        if (status == HBF_OK) return {};
        queue_ = nullptr;
        return tl::unexpected(error.to_error(status, "litmus: a queue"));
    }
    Result<> run(const hbf_command *commands, uint64_t count) {
        const hbf_batch batch{sizeof(batch), sizeof(hbf_command), commands, count};
        uint64_t value = 0;
        AbiError error;
        hbf_status status = device_.queue_ext->submit(queue_, &batch, &value, error.out());
        if (status == HBF_OK) status = device_.queue_ext->wait(queue_, value, 1'000'000'000, error.out());
        hbf_progress progress{sizeof(progress), HBF_OK, 0, 0};
        if (status == HBF_OK) status = device_.queue_ext->poll(queue_, &progress);
        if (status == HBF_OK && progress.failed != 0) {
            device_.queue_ext->failure(queue_, error.out());
            status = progress.status;
        }
        if (status == HBF_OK) return {};
        return tl::unexpected(error.to_error(status, fmt::format("{}: litmus", device_.label())));
    }
    hbf_region region() const { return region_; }
    std::byte *memory() const { return memory_; }

private:
    DeviceCore &device_;
    hbf_region region_ = 0;
    std::byte *memory_ = nullptr;
    hbf_queue *queue_ = nullptr;
};

hbf_command range(hbf_command_kind kind, hbf_region region, uint64_t offset) {
    hbf_command command{};
    command.kind = kind;
    command.u.range = {region, offset, area};
    return command;
}

hbf_command barrier() {
    hbf_command command{};
    command.kind = HBF_COMMAND_WAIT;
    return command;
}

using Word = std::atomic<uint64_t>;
Word &word_at(std::byte *memory) {
    return *reinterpret_cast<Word *>(memory);
}

} // namespace

Result<LitmusRun> through_copy_engine(DeviceCore &device, uint32_t tier, bool explicit_operations) {
    LitmusRun run;
    Bench bench(device);
    if (auto done = bench.allocate(tier); !done) {
        if (done.error().code != Code::exhausted) return tl::unexpected(done.error());
        run.not_observable = "the tier is full";
        return run;
    }
    if (bench.memory() == nullptr) {
        run.not_observable = "the tier gives no CPU address";
        return run;
    }
    if (auto done = bench.make_queue(); !done) return tl::unexpected(done.error());
    hbf_command copy{};
    copy.kind = HBF_COMMAND_COPY;
    copy.u.copy = {bench.region(), area, bench.region(), 0, area, nullptr};
    const hbf_command around[6] = {range(HBF_COMMAND_FLUSH, bench.region(), 0),
                                   range(HBF_COMMAND_FLUSH, bench.region(), area),
                                   barrier(),
                                   copy,
                                   barrier(),
                                   range(HBF_COMMAND_INVALIDATE, bench.region(), area)};
    const auto begin = Clock::now();
    for (uint64_t generation = 1; generation <= copy_trials && Clock::now() - begin < time_limit; ++generation) {
        const uint64_t offset = generation * 7 % (area / line) * line;
        // Both sides have been in this CPU's cache: a copy that goes past it takes, or leaves, the old generation.
        (void)word_at(bench.memory() + area + offset).load(std::memory_order_relaxed);
        word_at(bench.memory() + offset).store(generation, std::memory_order_release);
        if (auto done = explicit_operations ? bench.run(around, 6) : bench.run(&copy, 1); !done)
            return tl::unexpected(done.error());
        if (word_at(bench.memory() + area + offset).load(std::memory_order_acquire) != generation) ++run.stale;
        ++run.trials;
    }
    run.milliseconds = since(begin);
    return run;
}

Result<LitmusRun> between_cpus(DeviceCore &device, uint32_t tier) {
    LitmusRun run;
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) < 2) {
        run.not_observable = "one CPU";
        return run;
    }
    Bench bench(device);
    if (auto done = bench.allocate(tier); !done || bench.memory() == nullptr) {
        run.not_observable = "no CPU-accessible region";
        return run;
    }
    Word &data = word_at(bench.memory()), &flag = word_at(bench.memory() + area),
         &seen = word_at(bench.memory() + area + line);
    data.store(0);
    flag.store(0);
    seen.store(0);
    std::atomic<bool> stop{false};
    const auto begin = Clock::now();
    const auto write = [&] {
        for (uint64_t i = 1; i <= cpu_trials && !stop.load(std::memory_order_relaxed); ++i) {
            data.store(i, std::memory_order_relaxed);
            flag.store(i, std::memory_order_release);
            for (unsigned looks = 1; seen.load(std::memory_order_acquire) != i && !stop.load(std::memory_order_relaxed);
                 ++looks)
                if (looks % 64 == 0) std::this_thread::yield();
        }
    };
    std::thread writer;
    try {
        writer = std::thread(write);
    } catch (const std::system_error &problem) {
        run.not_observable = problem.what();
        return run;
    }
    for (uint64_t i = 1; i <= cpu_trials && !stop.load(std::memory_order_relaxed); ++i) {
        for (unsigned looks = 1; flag.load(std::memory_order_acquire) != i; ++looks) {
            if (looks % 64 != 0) continue;
            std::this_thread::yield(); // on a busy machine the writer may need this CPU
            if (Clock::now() - begin < time_limit) continue;
            stop.store(true, std::memory_order_relaxed);
            break;
        }
        if (stop.load(std::memory_order_relaxed)) break;
        if (data.load(std::memory_order_relaxed) != i) ++run.stale;
        ++run.trials;
        seen.store(i, std::memory_order_release);
    }
    stop.store(true, std::memory_order_relaxed);
    writer.join();
    run.milliseconds = since(begin);
    return run;
}

} // namespace hbf::fabric
