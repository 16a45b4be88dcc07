// SPDX-License-Identifier: Apache-2.0
// Launches that must be refused and are taken, or must be taken and are refused.
#include <algorithm>

#include "conformance/inject/launch_fault.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

using sdk::shell::refuse;

class LaunchUnchecked final : public RewriteFault {
public:
    using RewriteFault::RewriteFault;

    bool rewrite(std::vector<hbf_command> &commands) override {
        bool changed = false;
        for (hbf_command &command : commands) {
            if (command.kind != HBF_COMMAND_LAUNCH || !wrong(command.u.launch) || !fires()) continue;
            make_nothing(command);
            changed = true;
        }
        return changed;
    }

private:
    bool is(std::string_view what) const { return settings().text("what") == what; }
    bool wrong(const hbf_launch &launch) const {
        const auto kernel = device().kernels().find(launch.kernel);
        if (is("kernel")) return !kernel;
        if (!kernel) return false;
        if (is("buffer-count")) return launch.buffer_count != kernel->buffer_count;
        if (is("arguments-size")) return launch.arguments_size != kernel->arguments_size;
        if (is("null")) return !launch.buffers || !launch.arguments;
        const auto zero = [](const uint32_t *sizes) {
            return std::any_of(sizes, sizes + 3, [](uint32_t n) { return n == 0; });
        };
        if (is("no-groups")) return zero(launch.groups);
        if (is("no-items")) return zero(launch.group_size);
        if (is("group-too-large")) return !zero(launch.group_size) && too_large(launch, kernel->max_group_size);
        if (!readable(launch)) return false;
        return std::any_of(launch.buffers, launch.buffers + launch.buffer_count,
                           [&](const hbf_kernel_buffer &buffer) { return wrong(buffer); });
    }
    static bool too_large(const hbf_launch &launch, uint64_t most) {
        uint64_t items = 1;
        return std::any_of(launch.group_size, launch.group_size + 3, [&](uint32_t n) { return (items *= n) > most; });
    }
    bool wrong(const hbf_kernel_buffer &buffer) const {
        if (is("unaligned")) return buffer.offset % 8 != 0;
        if (is("empty")) return buffer.size == 0;
        if (is("access")) return buffer.access == 0;
        if (is("access-unknown")) return buffer.access > (HBF_KERNEL_READS | HBF_KERNEL_WRITES);
        const auto region = device().regions().find(buffer.region);
        if (is("stale")) return !region;
        if (!region) return false;
        const uint64_t end = buffer.offset + buffer.size;
        if (is("beyond")) return end >= buffer.offset && end > region->size;
        if (is("wraps")) return end < buffer.offset;
        return is("not-reached") && region->tier < device().tiers().size() &&
               !(device().tiers()[region->tier].access & HBF_ACCESS_DEVICE);
    }
};
HBF_FAULT(LaunchUnchecked, "launch-unchecked", "a launch with something wrong in it is taken, and does nothing",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "beyond",
           .line = "is wrong: a buffer's end, with or without a sum past 2^64, its offset, size, bits of access, region, or "
                   "tier; the number of buffers; bytes of arguments; a pointer; the kernel; groups or work-items",
           .choices = {"beyond", "wraps", "unaligned", "empty", "access", "access-unknown", "stale", "not-reached",
                       "buffer-count", "arguments-size", "null", "kernel", "no-groups", "no-items", "group-too-large"}});

// Refuses what a correct plugin takes.
class LaunchRefused final : public Fault {
public:
    using Fault::Fault;

    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        for (uint64_t i = 0; readable(queue, batch) && i < batch->command_count; ++i) {
            const hbf_command &command = command_at(*batch, i);
            if (command.kind != HBF_COMMAND_LAUNCH || !harmless(device(), command.u.launch) || !hits(command.u.launch) ||
                !fires())
                continue;
            if (out_value) *out_value = 0;
            return refuse(e, HBF_INVALID, "the launch is not as its kernel takes it");
        }
        return below_->submit(queue, batch, out_value, e);
    }

private:
    bool hits(const hbf_launch &launch) const {
        const std::string &what = settings().text("what");
        if (what == "largest-group")
            return uint64_t{launch.group_size[0]} * launch.group_size[1] * launch.group_size[2] ==
                   device().kernels().find(launch.kernel)->max_group_size;
        if (what == "one-item") return launch.group_size[0] == 1 && launch.groups[0] == 1;
        return std::any_of(launch.buffers, launch.buffers + launch.buffer_count, [&](const hbf_kernel_buffer &buffer) {
            return buffer.offset + buffer.size == device().regions().find(buffer.region)->size;
        });
    }
};
HBF_FAULT(LaunchRefused, "launch-refused", "a launch with nothing wrong in it is refused",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "last-byte",
           .line = "with a buffer that ends with its region; with the largest group; of a single work-item",
           .choices = {"last-byte", "largest-group", "one-item"}});

} // namespace
} // namespace hbf::inject
