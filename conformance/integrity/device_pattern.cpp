// SPDX-License-Identifier: Apache-2.0
#include "conformance/integrity/device_pattern.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "conformance/suite/context.hpp"
#include "kernels/device/pattern_fill.h"
#include "kernels/device/pattern_findings.hpp"

namespace hbf::integrity {
namespace {

namespace kd = kernels::device;

constexpr uint32_t most_groups = 1024;
constexpr uint64_t group_bytes = 64u << 10; // of a group, at least: its result is half a KiB
constexpr uint64_t trial_bytes = 64u << 10;
constexpr std::string_view names[] = {"auto", "host", "kernel"};

constexpr uint32_t kernel_access = HBF_ACCESS_DEVICE | HBF_ACCESS_DMA;

// The kernel of this name and shape, or with id 0 and the reason in `why`.
hbf_kernel_info find(const conformance::Instance &device, std::string_view name, uint32_t buffers, std::string &why) {
    hbf_kernel_info info{};
    info.struct_size = sizeof info;
    conformance::ErrorBuffer error;
    const auto call = error.call(device.kernels_table()->find(device.handle(), {name.data(), name.size()}, &info, error));
    if (!call.ok()) {
        why = fmt::format("{}: {}", name, to_string(call));
        info.kernel = 0;
    } else if (info.buffer_count != buffers || info.arguments_size != sizeof(kd::pattern_arguments) ||
               info.max_group_size == 0) {
        why = fmt::format("{}: it takes {} buffers and {} bytes of arguments, not {} and {}", name, info.buffer_count,
                          info.arguments_size, buffers, sizeof(kd::pattern_arguments));
        info.kernel = 0;
    }
    return info;
}

} // namespace

std::string_view to_string(VerifyBy by) {
    return names[static_cast<size_t>(by)];
}

std::optional<VerifyBy> verify_by_from(std::string_view text) {
    for (const auto by : {VerifyBy::choice, VerifyBy::host, VerifyBy::kernel})
        if (text == to_string(by)) return by;
    return std::nullopt;
}

DevicePattern::DevicePattern(const conformance::Instance &device, conformance::ByteAccess &access, hbf_queue *queue)
    : device_(&device), access_(&access), queue_(queue), regions_(device) {
    if (!(device.capabilities() & conformance::need::launch)) {
        why_not_ = "the device launches no kernels";
        return;
    }
    verify_ = find(device, "pattern_verify/1", 2, why_not_);
    if (!why_not_.empty()) return;
    // Where the CPU can look at the results, if there is such a tier; else they are copied out.
    std::optional<uint32_t> tier;
    for (uint32_t i = 0; i < device.tiers().size(); ++i)
        if (reaches(i) && (!tier || (device.cpu_access(i) && !device.cpu_access(*tier)))) tier = i;
    if (!tier) {
        why_not_ = "no tier is in reach of both kernels and commands";
        return;
    }
    results_ = regions_.make(*tier, most_groups * sizeof(kd::pattern_verify_result));
    std::string not_needed; // data is written by copies then
    fill_ = find(device, "pattern_fill/1", 1, not_needed);
}

bool DevicePattern::reaches(uint32_t tier) const {
    return (device_->tier(tier).access & kernel_access) == kernel_access;
}

uint32_t DevicePattern::groups(uint64_t size) const {
    return static_cast<uint32_t>(std::clamp<uint64_t>(size / group_bytes, 1, most_groups));
}

void DevicePattern::launch(const hbf_kernel_info &kernel, const hbf_kernel_buffer *buffers, uint32_t count,
                           const Datum &datum, uint64_t size, uint64_t content, bool clear) {
    const kd::pattern_arguments arguments{content,    size,       static_cast<uint32_t>(datum.pattern),
                                          datum.pass, datum.seed, datum.generation};
    hbf_command command{};
    command.kind = HBF_COMMAND_LAUNCH;
    command.u.launch = {kernel.kernel,
                        buffers,
                        count,
                        &arguments,
                        sizeof arguments,
                        {groups(size), 1, 1},
                        {std::min(kernel.max_group_size, 256u), 1, 1}};
    if (clear) // results of groups that never ran must not be there from before
        device_->must_run(queue_, {conformance::fill_command(results_.region, 0, buffers[1].size, 0xff, 1)});
    device_->must_run(queue_, {command});
}

void DevicePattern::fill(const hbf_region_info &region, const Datum &datum, uint64_t offset, uint64_t size,
                         uint64_t content) {
    const hbf_kernel_buffer buffer{region.region, offset, size, HBF_KERNEL_WRITES, 0};
    launch(fill_, &buffer, 1, datum, size, content, false);
}

DeviceFindings DevicePattern::verify(const hbf_region_info &region, const Datum &due, uint64_t offset, uint64_t size,
                                     uint64_t content) {
    const uint64_t bytes = groups(size) * sizeof(kd::pattern_verify_result);
    const hbf_kernel_buffer buffers[] = {{region.region, offset, size, HBF_KERNEL_READS, 0},
                                         {results_.region, 0, bytes, HBF_KERNEL_WRITES, 0}};
    launch(verify_, buffers, 2, due, size, content, true);
    std::vector<kd::pattern_verify_result> results(groups(size));
    access_->read(results_, 0, std::as_writable_bytes(std::span(results)));
    for (auto &one : results) // not written: all ones, and it counts nothing
        if (one.checked_words == UINT64_MAX) one = {};
    const auto found = kd::pattern_findings(results);
    DeviceFindings out{
        found.wrong_words, found.first_offset + offset, found.expected, found.actual, found.up, found.down, {}};
    if (found.checked_words != size / word_size)
        out.doubt = fmt::format("kernel pattern_verify/1 says that it looked at {} of {} words", found.checked_words,
                                size / word_size);
    else if (found.wrong_words != 0 && found.first_offset >= size)
        out.doubt = fmt::format("kernel pattern_verify/1 says that the first of {} wrong words is at {:#x} of {:#x} bytes",
                                found.wrong_words, found.first_offset, size);
    return out;
}

std::string DevicePattern::prove(const hbf_region_info &region, uint32_t seed) {
    const uint64_t size = std::min(trial_bytes, region.size / word_size * word_size);
    const Datum datum{Pattern::address_hash, 0, seed, 0};
    std::vector<std::byte> bytes(size);
    const uint64_t place = seed % (size / word_size) * word_size, bit = seed % 64;
    for (const bool wrong : {true, false}) {
        generate(datum, bytes.data(), size, 0);
        if (wrong) bytes[place + bit / 8] ^= std::byte(1u << bit % 8);
        access_->write(region, 0, bytes);
        if (access_->read(region, 0, size) != bytes) return "what was written to try it out did not arrive";
        const auto found = verify(region, datum, 0, size, 0);
        if (!found.doubt.empty()) return found.doubt;
        if (!wrong && found.wrong_words != 0)
            return fmt::format("kernel pattern_verify/1 finds {} wrong words where all are right", found.wrong_words);
        const uint64_t expected = word_of(datum, place);
        if (wrong && (found.wrong_words != 1 || found.first_offset != place || found.expected != expected ||
                      found.actual != (expected ^ uint64_t{1} << bit)))
            return fmt::format("one bit is wrong at {:#x}; kernel pattern_verify/1 finds {} wrong words, the first at {:#x}",
                               place, found.wrong_words, found.first_offset);
    }
    if (!can_fill()) return "";
    const Datum other{Pattern::address_hash, 1, seed, 0}; // no byte of it is there yet
    fill(region, other, 0, size, 0);
    const auto filled = access_->read(region, 0, size);
    if (compare(other, filled.data(), size, 0, [](const WrongWord &) {}) != 0) fill_.kernel = 0;
    return "";
}

} // namespace hbf::integrity
