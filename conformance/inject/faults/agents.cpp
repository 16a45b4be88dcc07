// SPDX-License-Identifier: Apache-2.0
// Kernels that others do not agree with: they see memory as it was, are seen late, or undo what was done beside them.
#include <map>
#include <mutex>
#include <string>

#include "conformance/inject/data_fault.hpp"
#include "conformance/inject/rewrite_fault.hpp"

namespace hbf::inject {
namespace {

const Parameter of_kernel{.key = "kernel", .kind = Parameter::name, .line = "only launches of the kernel of this name"};

// Which of an instance's kernels is meant.
class KernelFilter {
public:
    void found(const Settings &settings, hbf_string name, const hbf_kernel_info *out) {
        if (!usable(out, HBF_KERNEL_INFO_MIN_SIZE) || !name.data) return;
        if (settings.given("kernel") && std::string_view(name.data, name.size) != settings.text("kernel")) return;
        std::lock_guard lock(mutex_);
        meant_[out->kernel] = true;
    }
    bool picks(const hbf_command &command) const {
        if (command.kind != HBF_COMMAND_LAUNCH || !command.u.launch.buffers) return false;
        std::lock_guard lock(mutex_);
        return meant_.contains(command.u.launch.kernel);
    }

private:
    mutable std::mutex mutex_;
    std::map<uint64_t, bool> meant_;
};

// A cache of the device's own, between kernels and memory: what they load is as of the launch before, or what they store
// gets out at the launch after. A twin of the region stands in for it.
class LaunchBehind final : public RewriteFault {
public:
    using RewriteFault::RewriteFault;

    hbf_status find_kernel(hbf_string name, hbf_kernel_info *out, hbf_error *e) override {
        const hbf_status status = below_->find_kernel(name, out, e);
        if (status == HBF_OK) filter_.found(settings(), name, out);
        return status;
    }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        room_ = queue.most_commands;
        return RewriteFault::submit(queue, batch, out_value, e);
    }
    hbf_status free(hbf_region region, hbf_error *e) override {
        const hbf_status status = below_->free(region, e);
        if (status != HBF_OK) return status;
        std::lock_guard lock(mutex_);
        if (const auto twin = twins_.extract(region); !twin.empty()) below_->free(twin.mapped(), nullptr);
        return status;
    }
    void destroy() override {
        for (const auto &[region, twin] : twins_) below_->free(twin, nullptr);
        twins_.clear();
        below_->destroy();
    }

private:
    bool rewrite(std::vector<hbf_command> &commands) override {
        if (commands.size() + 2 > room_ || commands.empty()) return false;
        const bool loads = settings().text("what") == "loads";
        const uint32_t access = loads ? HBF_KERNEL_READS : HBF_KERNEL_WRITES;
        std::lock_guard lock(mutex_);
        for (size_t i = 0; i < commands.size(); ++i) {
            if (!filter_.picks(commands[i])) continue;
            hbf_launch &launch = commands[i].u.launch;
            for (uint64_t b = 0; b < launch.buffer_count; ++b) {
                if (launch.buffers[b].access != access) continue;
                const auto region = device().regions().find(launch.buffers[b].region);
                const hbf_region twin = region ? twin_of(*region) : 0;
                if (!twin || !fires()) continue;
                buffers_.assign(launch.buffers, launch.buffers + launch.buffer_count);
                buffers_[b].region = twin;
                launch.buffers = buffers_.data();
                hbf_command barrier{}, move{};
                barrier.kind = HBF_COMMAND_WAIT;
                move.kind = HBF_COMMAND_COPY;
                move.u.copy = {loads ? twin : region->region, 0, loads ? region->region : twin, 0, region->size, nullptr};
                if (loads)
                    commands.insert(commands.end(), {barrier, move});
                else
                    commands.insert(commands.begin() + static_cast<ptrdiff_t>(i), {move, barrier});
                return true;
            }
        }
        return false;
    }
    // As large, in the same tier, with the same bytes to begin with.
    hbf_region twin_of(const hbf_region_info &region) {
        if (region.tier == HBF_TIER_NONE) return 0;
        if (const auto known = twins_.find(region.region); known != twins_.end()) return known->second;
        hbf_alloc_desc desc{};
        desc.struct_size = sizeof desc;
        desc.tier = region.tier;
        desc.size = region.size;
        hbf_region_info twin{};
        twin.struct_size = sizeof twin;
        const auto bytes = device().touch().read(region.region, 0, region.size);
        if (!bytes || below_->alloc(&desc, &twin, nullptr) != HBF_OK) return 0;
        device().touch().write(twin.region, 0, *bytes);
        return twins_[region.region] = twin.region;
    }

    KernelFilter filter_;
    std::mutex mutex_;
    uint64_t room_ = 0;
    std::map<hbf_region, hbf_region> twins_;
    std::vector<hbf_kernel_buffer> buffers_; // until submit has returned
};
HBF_FAULT(LaunchBehind, "launch-behind", "a kernel is one launch behind with what it loads, or others with what it stores",
          {.key = "what", .kind = Parameter::word, .preset = "loads", .line = "which", .choices = {"loads", "stores"}},
          of_kernel);

// The first bytes of what a kernel updates are written back as they were: an addition among them is lost.
class LaunchUndone final : public DataFault {
public:
    using DataFault::DataFault;

    hbf_status find_kernel(hbf_string name, hbf_kernel_info *out, hbf_error *e) override {
        const hbf_status status = below_->find_kernel(name, out, e);
        if (status == HBF_OK) filter_.found(settings(), name, out);
        return status;
    }

private:
    bool eligible(const hbf_command &command) override { return filter_.picks(command); }
    void look_before(Hit &hit) override {
        const hbf_launch &launch = hit.command.u.launch;
        for (uint64_t b = 0; b < launch.buffer_count; ++b) {
            const hbf_kernel_buffer &buffer = launch.buffers[b];
            if (!(buffer.access & HBF_KERNEL_WRITES)) continue;
            return save(hit, {buffer.region, buffer.offset, std::min<uint64_t>(buffer.size, settings().number("bytes"))});
        }
    }
    void change(const Hit &hit) override {
        if (!hit.before.empty()) device().touch().write(hit.saved.region, hit.saved.offset, hit.before);
    }

    KernelFilter filter_;
};
HBF_FAULT(LaunchUndone, "launch-undone", "the first bytes that a launch changed are as they were before it", of_kernel,
          {.key = "bytes", .preset = "4", .line = "so many"});

} // namespace
} // namespace hbf::inject
