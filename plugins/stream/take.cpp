// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "hbf/sdk/wait.hpp"
#include "plugins/stream/command.hpp"
#include "plugins/stream/lane.hpp"

namespace hbf::stream {
namespace {

class Taker {
public:
    Taker(Regions &regions, const KernelTable *kernels, Pins &pins) : regions_(regions), kernels_(kernels), pins_(pins) {}

    void take(uint64_t index, const hbf_command &in, Command &out) {
        index_ = index;
        out = Command{};
        out.kind = in.kind;
        if (in.flags != 0)
            sdk::fail(in.kind == HBF_COMMAND_COPY && in.flags == HBF_COPY_CRC32C ? HBF_UNSUPPORTED : HBF_INVALID,
                      fmt::format("command {}: flags {:#x}: this queue knows none", index_, in.flags));
        switch (in.kind) {
        case HBF_COMMAND_COPY:
            return copy(in.u.copy, out);
        case HBF_COMMAND_FILL:
            return fill(in.u.fill, out);
        case HBF_COMMAND_FLUSH:
        case HBF_COMMAND_INVALIDATE:
            out.size = in.u.range.size;
            return place(out.dst, in.u.range.region, in.u.range.offset, in.u.range.size);
        case HBF_COMMAND_WAIT:
            return wait(in.u.wait, out);
        case HBF_COMMAND_LAUNCH:
            return launch(in.u.launch, out);
        default:
            refuse(fmt::format("unknown kind {}", in.kind));
        }
    }

private:
    [[noreturn]] [[gnu::cold]] void refuse(const std::string &what, hbf_region region = 0,
                                           uint64_t offset = HBF_NO_PLACE) const {
        sdk::fail(HBF_INVALID, fmt::format("command {}: {}", index_, what), region, offset);
    }

    // The last few that this batch has pinned are remembered, newest first: batches move granules between two regions.
    struct Seen {
        hbf_region handle = 0;
        const Region *region = nullptr;
    };
    const Region *find(hbf_region handle) {
        for (const Seen &seen : seen_)
            if (seen.handle == handle && handle != 0) return seen.region;
        std::unique_ptr<Region> *const found = regions_.pin(handle);
        if (!found) refuse(fmt::format("region {:#x} is stale, or was never made here", handle), handle);
        pins_.handles[pins_.count++] = handle;
        seen_[oldest_] = {handle, found->get()};
        oldest_ = (oldest_ + 1) % 4;
        return found->get();
    }

    const Region *range(hbf_region handle, uint64_t offset, uint64_t size) {
        const Region *const region = find(handle);
        if (size == 0) refuse("its size is 0", handle, offset);
        if (offset > region->size || size > region->size - offset)
            refuse(fmt::format("{} bytes at {} leave the region's {} bytes", size, offset, region->size), handle, offset);
        return region;
    }

    void place(Place &place, hbf_region handle, uint64_t offset, uint64_t size) {
        place.region = range(handle, offset, size);
        place.handle = handle;
        place.offset = offset;
    }

    void copy(const hbf_copy &copy, Command &out) {
        place(out.dst, copy.dst, copy.dst_offset, copy.size);
        place(out.src, copy.src, copy.src_offset, copy.size);
        out.size = copy.size;
        if (overlap(out.dst, out.src, copy.size)) refuse("source and destination overlap", copy.dst, copy.dst_offset);
    }

    // Two regions share bytes only where both are the host's, registered twice.
    static bool overlap(const Place &a, const Place &b, uint64_t size) {
        if (a.region == b.region) return a.offset < b.offset + size && b.offset < a.offset + size;
        if (!a.region->host || !b.region->host) return false;
        return a.region->host + a.offset < b.region->host + b.offset + size &&
               b.region->host + b.offset < a.region->host + a.offset + size;
    }

    void fill(const hbf_fill &fill, Command &out) {
        if (fill.pattern_size != 1 && fill.pattern_size != 2 && fill.pattern_size != 4 && fill.pattern_size != 8)
            refuse(fmt::format("a pattern has 1, 2, 4 or 8 bytes, not {}", fill.pattern_size));
        place(out.dst, fill.dst, fill.dst_offset, fill.size);
        out.size = fill.size, out.pattern = fill.pattern, out.pattern_size = fill.pattern_size;
    }

    void wait(const hbf_wait &wait, Command &out) const {
        if (!wait.queue) return; // a barrier
        Lane *const lane = waited_lane(wait);
        if (!lane) refuse(fmt::format("wait: submit has not returned value {} of that queue", wait.value));
        lane->retain();
        out.lane = lane;
        out.value = wait.value;
    }

    void launch(const hbf_launch &launch, Command &out) {
        if (!kernels_) sdk::fail(HBF_UNSUPPORTED, fmt::format("command {}: this device runs no kernels", index_));
        try {
            out.kernel = &kernels_->check(launch);
        } catch (const sdk::Failure &why) {
            sdk::fail(why.status, fmt::format("command {}: {}", index_, why.message), why.region, why.offset);
        }
        for (uint64_t i = 0; i < launch.buffer_count; ++i) {
            const hbf_kernel_buffer &buffer = launch.buffers[i];
            if (!range(buffer.region, buffer.offset, buffer.size)->for_kernels)
                refuse(fmt::format("launch: buffer {} is memory that kernels do not reach", i), buffer.region,
                       buffer.offset);
        }
        out.launch = &launch;
    }

    uint64_t index_ = 0;
    Regions &regions_;
    const KernelTable *const kernels_;
    Pins &pins_;
    Seen seen_[4];
    unsigned oldest_ = 0;
};

} // namespace

void take_commands(const sdk::BatchView &batch, Regions &regions, const KernelTable *kernels, Pins &pins, Command *out) {
    uint64_t index = 0;
    Taker taker(regions, kernels, pins);
    try {
        for (; index < batch.size(); ++index) taker.take(index, batch[index], out[index]);
    } catch (...) {
        pins.give_back(regions);
        for (uint64_t i = 0; i < index; ++i)
            if (out[i].lane) out[i].lane->release();
        throw;
    }
}

} // namespace hbf::stream
