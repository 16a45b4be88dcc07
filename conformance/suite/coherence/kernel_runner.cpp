// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/coherence/kernel_runner.hpp"

#include <algorithm>

#include "conformance/litmus/access.hpp"
#include "conformance/suite/coherence/litmus_run.hpp"
#include "conformance/suite/threads.hpp"
#include "kernels/device/litmus_shape.h"

namespace hbf::conformance::coherence {
namespace {

namespace kernels = hbf::kernels::device;
using litmus::Word;

constexpr double start_s = 1, patience_s_of_host = 0.1; // for a kernel to come at all, and to come to an instance
constexpr double short_s = 0.1, long_s = 1;             // of a batch
constexpr uint32_t first_spins = 1u << 22, most_spins = 1u << 28;
constexpr uint64_t words_size = litmus::Arena::smallest_range;

uint32_t step_of(const litmus::Step &step) {
    const uint32_t operation = step.op == litmus::Op::load    ? HBF_LITMUS_LOAD
                               : step.op == litmus::Op::store ? HBF_LITMUS_STORE
                                                              : HBF_LITMUS_FENCE;
    const uint32_t order = step.op == litmus::Op::fence           ? HBF_LITMUS_SEQ_CST
                           : step.order == litmus::Order::acquire ? HBF_LITMUS_ACQUIRE
                           : step.order == litmus::Order::release ? HBF_LITMUS_RELEASE
                           : step.order == litmus::Order::seq_cst ? HBF_LITMUS_SEQ_CST
                                                                  : HBF_LITMUS_RELAXED;
    return operation | order << 8 | uint32_t{step.location} << 16 | uint32_t{step.value} << 24;
}

std::atomic_ref<Word> shared_word(std::byte *at) {
    return std::atomic_ref<Word>(*reinterpret_cast<Word *>(at));
}

// Results are no part of the test: if there is another tier that kernels reach, they lie there.
uint32_t elsewhere(const Instance &device, uint32_t tier) {
    for (const uint32_t other : kernel_tiers(device))
        if (other != tier) return other;
    return tier;
}

double since(litmus::Clock::time_point begin) {
    return std::chrono::duration<double>(litmus::Clock::now() - begin).count();
}

} // namespace

struct KernelRunner::Run {
    const litmus::Shape &shape;
    const litmus::Config &config;
    const litmus::Placement &placement;
    uint64_t first;
    kernels::litmus_shape_arguments arguments;
    litmus::Clock::time_point begin = litmus::Clock::now();
    uint32_t host_ran = UINT32_MAX;
};

KernelRunner::KernelRunner(Context &context, const Instance &device, const KernelAgent &kernel, uint32_t tier,
                           const Roles &roles)
    : context_(context), device_(device), kernel_(kernel), roles_(roles), regions_(device),
      words_(regions_.make(tier, words_size, 64)), meeting_(regions_.make(tier, 4096, 64)),
      results_(regions_.make(elsewhere(device, tier),
                             roles.acting * kernels::litmus_shape_result_size(litmus::most_instances), 64)),
      access_(device), queue_(device), serial_((context.seed() & 0xFFFFFFFF) << 24 | 1u << 20), spins_(first_spins) {
    if (roles.with_host) {
        arena_.ranges.emplace_back(at(words_, 0), words_size);
        host_results_.resize(uint64_t{litmus::most_instances} * litmus::most_registers);
        threads_ = std::make_unique<litmus::Threads>(2);
    } else {
        image_.resize(words_size);
        arena_.ranges.emplace_back(image_);
    }
}

Place KernelRunner::find(uint64_t address) const {
    return {&device_, &words_, address - reinterpret_cast<uintptr_t>(arena_.ranges.front().data())};
}

litmus::Slice KernelRunner::run(const litmus::Shape &shape, const litmus::Config &config, double seconds) {
    litmus::Slice slice;
    const auto begin = litmus::Clock::now();
    do {
        const litmus::Placement placement(arena_, config, litmus::most_instances);
        Run run{shape, config, placement, serial_, {}};
        serial_ += placement.instances();
        prepare_words(shape, placement, run.first);
        launch(run);
        const std::vector<std::byte> results = access_.read(results_, 0, results_.size);
        litmus::Batch batch{shape, config, placement, run.first, took_part(run, results), {}};
        for (unsigned i = 0; i < roles_.acting; ++i)
            batch.results[roles_.first + i] = reinterpret_cast<const uint64_t *>(
                results.data() + i * kernels::litmus_shape_result_size(placement.instances()) +
                sizeof(kernels::litmus_shape_head));
        if (roles_.with_host) batch.results[roles_.host] = host_results_.data();
        count_batch(batch, slice);
        given_up_ += batch.count < placement.instances();
        ++slice.batches;
        fit(since(run.begin), batch.count < placement.instances());
    } while (since(begin) < seconds);
    slice.seconds = since(begin);
    return slice;
}

// A busy machine lets agents run together now and then, and then for many instances: they are to wait for it, within bounds.
void KernelRunner::fit(double seconds, bool given_up) {
    if (given_up && seconds < short_s) spins_ = std::min(spins_ * 4, most_spins);
    if (seconds > long_s) spins_ = std::max(spins_ / 2, first_spins);
}

void KernelRunner::launch(Run &run) {
    kernels::litmus_shape_arguments &arguments = run.arguments;
    arguments.first = run.first;
    arguments.seed = run.config.seed;
    arguments.instances = run.placement.instances();
    arguments.agents = static_cast<uint32_t>(run.shape.agents.size());
    arguments.first_agent = roles_.first;
    arguments.acting = roles_.acting;
    arguments.spins = spins_;
    arguments.scope = roles_.with_host ? HBF_LITMUS_SYSTEM : HBF_LITMUS_DEVICE;
    arguments.meet_each = run.config.meeting == litmus::Meeting::each;
    arguments.most_delay = run.config.most_delay;
    run.placement.tell(arena_.ranges.front().data(), arguments.stride, arguments.base, arguments.factor, arguments.offset);
    for (unsigned agent = 0; agent < run.shape.agents.size(); ++agent)
        for (unsigned i = 0; i < run.shape.agents[agent].count; ++i)
            arguments.step[agent][i] = step_of(run.shape.agents[agent].steps[i]);

    const std::vector<std::byte> nobody_here(HBF_LITMUS_MEETING_SIZE);
    access_.write(meeting_, 0, nobody_here);
    if (!roles_.with_host) access_.write(words_, 0, image_);
    constexpr uint32_t updates = HBF_KERNEL_READS | HBF_KERNEL_WRITES;
    Launch launch = kernel_.launch(
        arguments, {buffer_of(words_, updates), buffer_of(meeting_, updates), buffer_of(results_, HBF_KERNEL_WRITES)},
        roles_.acting, 1);
    run.begin = litmus::Clock::now();
    const uint64_t value = device_.must_submit(queue_, {launch.command()});
    if (roles_.with_host)
        threads_->run(2, [&](unsigned member) {
            if (member == 0)
                act(run);
            else // a plugin may do the work in here
                static_cast<void>(device_.wait(queue_, value));
        });
    device_.must_complete(queue_, value);
    if (!roles_.with_host) access_.read(words_, 0, image_);
}

// The host's side of litmus_shape_meet: by time. It keeps its CPU: two agents that hand one CPU to each other never run at
// the same time.
void KernelRunner::act(Run &run) {
    const litmus::Agent &code = run.shape.agents[roles_.host];
    const kernels::litmus_shape_arguments &arguments = run.arguments;
    const std::atomic_ref<Word> over = shared_word(meeting() + HBF_LITMUS_APART * HBF_LITMUS_AGENTS);
    const auto wait = [&](uint64_t number) {
        shared_word(meeting() + HBF_LITMUS_APART * roles_.host).store(number, std::memory_order_release);
        for (unsigned other = 0; other < arguments.agents; ++other) {
            const std::atomic_ref<Word> there = shared_word(meeting() + HBF_LITMUS_APART * other);
            if (there.load(std::memory_order_acquire) >= number) continue;
            const auto begin = litmus::Clock::now();
            for (uint32_t spin = 1; there.load(std::memory_order_acquire) < number; ++spin) {
                litmus::relax();
                if (spin % 1024 != 0) continue;
                shared_word(meeting() + HBF_LITMUS_APART * roles_.host).store(number, std::memory_order_release); // if lost
                if (over.load(std::memory_order_relaxed) == run.first) return false;
                if (since(begin) < (number > 1 ? patience_s_of_host : start_s)) continue;
                over.store(run.first, std::memory_order_relaxed);
                return false;
            }
        }
        return true;
    };
    const auto meet = [&](uint64_t instance) { return wait(2 * instance + 1) && wait(2 * instance + 2); };
    Random random(run.config.seed ^ (run.first + roles_.host));
    uint16_t delays[litmus::most_steps] = {};
    Word *words[litmus::most_locations] = {};
    uint32_t i = 0;
    for (; i < arguments.instances; ++i) {
        for (unsigned location = 0; location < run.shape.locations(); ++location)
            words[location] = run.placement.word(location, i);
        if (run.config.most_delay != 0)
            for (uint16_t &turns : delays) turns = static_cast<uint16_t>(random.below(run.config.most_delay + 1u));
        const uint64_t skew = random.below(2) ? random.below(4u << random.below(9)) : 0; // as litmus_shape_skew
        if ((arguments.meet_each || i == 0) && !meet(i)) break;
        litmus::delay(static_cast<uint32_t>(skew));
        code.run(
            {words, (run.first + i) << litmus::value_bits, &host_results_[uint64_t{i} * litmus::most_registers], delays});
    }
    litmus::fence_words<litmus::Order::streaming>();
    run.host_ran = i;
}

// Instances that every agent ran.
uint32_t KernelRunner::took_part(const Run &run, const std::vector<std::byte> &results) {
    uint64_t least = std::min(run.host_ran, run.placement.instances());
    for (unsigned i = 0; i < roles_.acting; ++i) {
        kernels::litmus_shape_head head;
        std::memcpy(&head, results.data() + i * kernels::litmus_shape_result_size(run.placement.instances()), sizeof head);
        if (head.lacks & HBF_LITMUS_NO_SCOPE)
            context_.not_observable("the kernel was built without a scope that takes in the host (OpenCL C 3.0: "
                                    "__opencl_c_atomic_scope_all_devices)");
        if (head.lacks & HBF_LITMUS_NO_ORDER)
            context_.not_observable("the kernel was built without sequential consistency (OpenCL C 3.0: "
                                    "__opencl_c_atomic_order_seq_cst)");
        least = std::min(least, head.ran);
    }
    return static_cast<uint32_t>(least);
}

void need_groups(Context &context, const KernelAgent &kernel, unsigned groups, std::string_view for_what) {
    if (kernel.info().concurrent_groups < groups)
        context.not_observable(fmt::format("{} needs {} groups that run at the same time; this device is certain of {}",
                                           for_what, groups, kernel.info().concurrent_groups));
}

void need_cpu_beside_kernel(Context &context) {
    const bool by_cpus = context.subject().must_probe().flags & HBF_DEVICE_ON_CPU;
    need_agents(context, by_cpus ? 2 : 1, "a kernel beside a thread of the host");
}

void run_kernel_shape(Context &context, std::string_view name, const Roles &roles) {
    const litmus::ShapeTest &test = litmus::test_of(name);
    const Instance &device = context.device();
    const KernelAgent kernel(context, device, "litmus_shape/1");
    const std::vector<uint32_t> tiers = roles.with_host ? atomic_with_kernels(device) : kernel_tiers(device);
    if (tiers.empty())
        context.not_supported(roles.with_host ? "no coherent tier declares 8-byte atomics between CPUs and kernels"
                                              : "no tier is reached by both kernels and commands");
    need_groups(context, kernel, roles.acting, fmt::format("{} ({})", test.shape.name, to_string(test.shape)));
    if (roles.with_host) need_cpu_beside_kernel(context);
    const auto share = static_cast<double>(tiers.size());
    for (const uint32_t tier : tiers) {
        KernelRunner runner(context, device, kernel, tier, roles);
        const litmus::Report report = run_campaign(
            runner, test, {.least_s = context.budget_s() / share, .most_s = 3 * patience_s(context)}, context.seed() + tier);
        context.note(
            fmt::format("{}: {} batches in which an agent waited in vain", device.tier(tier).name, runner.given_up()));
        judge_shape(context, report, [&](uint64_t address) { return runner.find(address); });
    }
}

} // namespace hbf::conformance::coherence
