// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "hbf/sdk/wait.hpp"
#include "plugins/opencl/kernels/launcher.hpp"
#include "plugins/opencl/queue/command.hpp"
#include "plugins/opencl/queue/lane.hpp"

namespace hbf::opencl {
namespace {

class Taker {
public:
    Taker(uint64_t index, Regions &regions, Launcher *launcher, Pins &pins, Command &out)
        : index_(index), regions_(regions), launcher_(launcher), pins_(pins), out_(out) {}

    [[noreturn]] [[gnu::cold]] void refuse(const std::string &what, hbf_region region = 0,
                                           uint64_t offset = HBF_NO_PLACE) const {
        sdk::fail(HBF_INVALID, fmt::format("command {}: {}", index_, what), region, offset);
    }

    // Pins before it checks, so that giving back undoes a refused command too.
    Region *range(hbf_region handle, uint64_t offset, uint64_t size) const {
        std::unique_ptr<Region> *const found = regions_.pin(handle);
        if (!found) refuse(fmt::format("region {:#x} is stale, or was never made here", handle), handle);
        pins_.handles[pins_.count++] = handle;
        Region *const region = found->get();
        if (size == 0) refuse("its size is 0", handle, offset);
        if (offset > region->size || size > region->size - offset)
            refuse(fmt::format("{} bytes at {} leave the region's {} bytes", size, offset, region->size), handle, offset);
        return region;
    }

    void place(Place &place, hbf_region handle, uint64_t offset, uint64_t size) const {
        place.region = range(handle, offset, size);
        place.handle = handle;
        place.offset = offset;
    }

    void copy(const hbf_copy &copy) const {
        place(out_.dst, copy.dst, copy.dst_offset, copy.size);
        place(out_.src, copy.src, copy.src_offset, copy.size);
        out_.size = copy.size;
        if (overlap(copy.size)) refuse("source and destination overlap", copy.dst, copy.dst_offset);
    }

    // Two regions share bytes only where both are registered memory.
    bool overlap(uint64_t size) const {
        const Place &a = out_.dst, &b = out_.src;
        if (a.region == b.region) return a.offset < b.offset + size && b.offset < a.offset + size;
        if (a.region->sort != Sort::registered || b.region->sort != Sort::registered) return false;
        return a.in_host() < b.in_host() + size && b.in_host() < a.in_host() + size;
    }

    void fill(const hbf_fill &fill) const {
        if (fill.pattern_size != 1 && fill.pattern_size != 2 && fill.pattern_size != 4 && fill.pattern_size != 8)
            refuse(fmt::format("a pattern has 1, 2, 4 or 8 bytes, not {}", fill.pattern_size));
        place(out_.dst, fill.dst, fill.dst_offset, fill.size);
        out_.size = fill.size, out_.pattern = fill.pattern, out_.pattern_size = fill.pattern_size;
    }

    void wait(const hbf_wait &wait) const {
        if (!wait.queue) return; // a barrier
        Lane *const lane = waited_lane(wait);
        if (!lane) refuse(fmt::format("wait: submit has not returned value {} of that queue", wait.value));
        lane->retain();
        out_.lane = lane;
        out_.value = wait.value;
    }

    void launch(const hbf_launch &launch) const {
        if (!launcher_) sdk::fail(HBF_UNSUPPORTED, fmt::format("command {}: this device runs no kernels", index_));
        launcher_->check(launch); // bounds the number of buffers, too
        for (uint64_t i = 0; i < launch.buffer_count; ++i) {
            const hbf_kernel_buffer &buffer = launch.buffers[i];
            const Region *const region = range(buffer.region, buffer.offset, buffer.size);
            if (region->sort == Sort::registered)
                refuse(fmt::format("buffer {} is registered host memory, which kernels do not reach", i), buffer.region,
                       buffer.offset);
        }
        out_.launch = &launch;
    }

    void take(const hbf_command &in) const {
        out_ = Command{};
        out_.kind = in.kind;
        if (in.flags != 0)
            sdk::fail(in.kind == HBF_COMMAND_COPY && in.flags == HBF_COPY_CRC32C ? HBF_UNSUPPORTED : HBF_INVALID,
                      fmt::format("command {}: flags {:#x}: this queue knows none", index_, in.flags));
        switch (in.kind) {
        case HBF_COMMAND_COPY:
            return copy(in.u.copy);
        case HBF_COMMAND_FILL:
            return fill(in.u.fill);
        case HBF_COMMAND_FLUSH:
        case HBF_COMMAND_INVALIDATE:
            place(out_.dst, in.u.range.region, in.u.range.offset, in.u.range.size);
            out_.size = in.u.range.size;
            return;
        case HBF_COMMAND_WAIT:
            return wait(in.u.wait);
        case HBF_COMMAND_LAUNCH:
            return launch(in.u.launch);
        default:
            refuse(fmt::format("unknown kind {}", in.kind));
        }
    }

private:
    uint64_t index_;
    Regions &regions_;
    Launcher *launcher_;
    Pins &pins_;
    Command &out_;
};

} // namespace

void take_commands(const sdk::BatchView &batch, Regions &regions, Launcher *launcher, Pins &pins, Command *out) {
    uint64_t index = 0;
    try {
        for (; index < batch.size(); ++index) Taker(index, regions, launcher, pins, out[index]).take(batch[index]);
    } catch (...) {
        pins.give_back(regions);
        for (uint64_t i = 0; i < index; ++i)
            if (out[i].lane) out[i].lane->release();
        throw;
    }
}

} // namespace hbf::opencl
