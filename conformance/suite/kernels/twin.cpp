// SPDX-License-Identifier: Apache-2.0
// Each kernel of the project that the device lists against its host twin, which is the same source run on the CPU: bit for
// bit, but for fp32 numbers, for which a bound is stated; and what a kernel was not given to write, it leaves alone.
#include <algorithm>
#include <cmath>

#include <fmt/ranges.h>

#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/kernels/scenario.hpp"

namespace hbf::conformance {
namespace {

// Kernels that are listed and have scenarios.
std::vector<std::string> known_kernels(Context &context) {
    const std::vector<std::string_view> known = scenario_kernels();
    std::vector<std::string> names = kernel_names(context.device());
    std::erase_if(names,
                  [&](const std::string &name) { return std::find(known.begin(), known.end(), name) == known.end(); });
    if (names.empty()) context.not_supported("the device lists none of the kernels that are known here");
    return names;
}

bool has_floats(const Scenario &scenario) {
    return std::any_of(scenario.buffers.begin(), scenario.buffers.end(),
                       [](const Scenario::Buffer &buffer) { return buffer.floats; });
}

// Agents of a litmus test: what they leave depends on who came first. The coherence group judges them.
bool races(const Scenario &scenario) {
    return scenario.kernel.starts_with("litmus_shape/") || scenario.kernel.starts_with("litmus_tear/");
}

// Every scenario, in each tier that kernels reach.
template <class Look>
std::vector<std::string> each_scenario(Context &context, bool floats, Look &&look) {
    Instance &device = context.device();
    ByteAccess access(device);
    const Queue queue(device);
    std::vector<std::string> looked_at;
    for (const std::string &name : known_kernels(context)) {
        hbf_kernel_info kernel{};
        must(find_kernel(device, name, kernel), "find of {}, which is listed", name);
        const auto scenarios = scenarios_of(name, context.seed(), std::min(kernel.max_group_size, 256u));
        if (scenarios.empty() || has_floats(scenarios.front()) != floats) continue;
        looked_at.push_back(name);
        for (const uint32_t tier : kernel_tiers(device))
            for (const Scenario &scenario : scenarios) {
                OnDevice on_device(context, access, scenario, kernel, tier);
                on_device.run(queue);
                look(scenario, on_device, std::string(device.tier(tier).name));
            }
    }
    return looked_at;
}

std::string sentence(const Scenario &scenario, size_t buffer, const Evidence &evidence) {
    return fmt::format("{}, {}, in {}: byte {:#x} of buffer {} is {:#04x}, its host twin makes {:#04x} of it; {} bytes are "
                       "not as it makes them",
                       scenario.kernel, scenario.what, evidence.tier, evidence.offset, buffer, evidence.actual,
                       evidence.expected, evidence.wrong_bytes);
}

HBF_CASE("kernels.twin.same_bytes",
         {.rules = {"HBF-KRN-3", "HBF-KRN-4"},
          .kills = {"launch_nothing", "launch_keeps_head", "launch_keeps_tail", "launch_flips_bit", "launch_group_missing",
                    "launch_one_dimension", "launch_arguments_of_before", "a100_group_skipped"},
          .needs = need::launch | need::cpu_tier,
          .limit_s = 400}) {
    const auto names = each_scenario(context, false, [&](const Scenario &scenario, OnDevice &ran, const std::string &tier) {
        if (races(scenario)) return;
        const auto expected = run_twin(scenario);
        for (size_t i = 0; i < expected.size(); ++i) {
            if (!(scenario.buffers[i].access & HBF_KERNEL_WRITES)) continue;
            const auto actual = ran.after(i);
            context.count_check();
            if (actual == expected[i]) continue;
            const bool untouched = actual == scenario.buffers[i].bytes;
            Evidence evidence =
                difference(untouched ? fault::not_written : fault::wrong_value, tier, ran.region(i), 0, expected[i], actual);
            evidence.detail = sentence(scenario, i, evidence);
            fail_with(std::move(evidence));
        }
    });
    context.note(fmt::format("compared bit for bit, but for agents that race: {}", fmt::join(names, ", ")));
}

// A unit more than two roundings of each of its operations could make of the numbers that are used here, all of them below
// 2^7: a device that keeps subnormals and fuses multiply and add makes the twin's own bits.
constexpr float bound = 1e-4f;

// Difference of two fp32 numbers over the larger of 1 and the one that is due; infinite where only one of them is a number.
float apart(float expected, float actual) {
    if (std::isnan(expected) || std::isnan(actual)) return std::isnan(expected) && std::isnan(actual) ? 0 : INFINITY;
    if (expected == actual) return 0; // infinities too
    return std::fabs(expected - actual) / std::max(1.0f, std::fabs(expected));
}

HBF_CASE("kernels.twin.floats_within_bound", {.rules = {"HBF-KRN-3"},
                                              .kills = {"launch_nothing", "launch_keeps_tail", "launch_flips_exponent"},
                                              .needs = need::launch | need::cpu_tier,
                                              .limit_s = 400}) {
    float worst = 0;
    uint64_t others = 0, all = 0;
    const auto names = each_scenario(context, true, [&](const Scenario &scenario, OnDevice &ran, const std::string &tier) {
        const auto expected = run_twin(scenario);
        for (size_t i = 0; i < expected.size(); ++i) {
            if (!scenario.buffers[i].floats) continue;
            const auto actual = ran.after(i);
            for (size_t at = 0; at < actual.size(); at += sizeof(float)) {
                float due, is;
                std::memcpy(&due, expected[i].data() + at, sizeof due);
                std::memcpy(&is, actual.data() + at, sizeof is);
                const float difference = apart(due, is);
                ++all;
                others += std::memcmp(&due, &is, sizeof due) != 0;
                worst = std::max(worst, difference);
                check_in(context, difference <= bound, fault::wrong_value, tier,
                         "{}, {}, in {}: number {} of buffer {} is {}, its host twin makes it {}", scenario.kernel,
                         scenario.what, tier, at / sizeof due, i, is, due);
            }
        }
    });
    if (names.empty()) context.not_supported("the device lists none of the kernels of fp32 numbers");
    context.metric({"kernels.twin.largest_difference", "1", worst});
    context.note(fmt::format("{}: {} of {} numbers have other bits than the twin's; the bound is {}", fmt::join(names, ", "),
                             others, all, bound));
}

// Around each buffer, and in those that the kernel only reads.
void look_beside(Context &context, const Scenario &scenario, OnDevice &ran, const std::string &tier) {
    for (size_t i = 0; i < scenario.buffers.size(); ++i) {
        std::vector<std::byte> expected = ran.whole_before(i);
        const std::vector<std::byte> actual = ran.whole_after(i);
        const auto guard = static_cast<std::ptrdiff_t>(OnDevice::guard);
        if (scenario.buffers[i].access & HBF_KERNEL_WRITES)
            std::copy(actual.begin() + guard, actual.end() - guard, expected.begin() + guard);
        context.count_check();
        if (actual == expected) continue;
        Evidence evidence = difference(fault::guard, tier, ran.region(i), 0, expected, actual);
        evidence.detail =
            fmt::format("{}, {}, in {}: byte {:#x} of the region of buffer {}, which is not the kernel's to write, was "
                        "{:#04x} and is {:#04x}",
                        scenario.kernel, scenario.what, tier, evidence.offset, i, evidence.expected, evidence.actual);
        fail_with(std::move(evidence));
    }
}

HBF_CASE("kernels.launch.guard_bytes_untouched",
         {.rules = {"HBF-KRN-4"},
          .kills = {"launch_writes_beyond", "launch_writes_before", "launch_read_only_changed", "launch_offset_wrong"},
          .needs = need::launch | need::cpu_tier,
          .limit_s = 400}) {
    for (const bool floats : {false, true})
        each_scenario(context, floats, [&](const Scenario &scenario, OnDevice &ran, const std::string &tier) {
            look_beside(context, scenario, ran, tier);
        });
}

} // namespace
} // namespace hbf::conformance
