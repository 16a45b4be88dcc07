// SPDX-License-Identifier: Apache-2.0
#include "validate.hpp"

#include <fmt/format.h>

#include "timeline.hpp"

namespace hbf::host {
namespace {

[[noreturn]] [[gnu::cold]] void refuse(uint64_t index, const std::string &what, hbf_region region = 0,
                                       uint64_t offset = HBF_NO_PLACE) {
    sdk::fail(HBF_INVALID, fmt::format("command {}: {}", index, what), region, offset);
}

class Taker {
public:
    Taker(uint64_t index, RegionTable &regions, Command &out) : index_(index), regions_(regions), out_(out) {}

    // Pins before it checks, so that give_back undoes a refused command too.
    void place(Place &place, const char *end, hbf_region region, uint64_t offset, uint64_t size) const {
        HostRegion *const found = regions_.pin(region);
        if (!found) refuse(index_, fmt::format("{} region {:#x} is not a live region", end, region), region);
        place.region = region;
        if (size == 0) refuse(index_, fmt::format("{} size is 0", end), region, offset);
        if (size > found->size || offset > found->size - size)
            refuse(
                index_,
                fmt::format("{} range of {} bytes at {} is outside the region's {} bytes", end, size, offset, found->size),
                region, offset);
        place.offset = offset;
        place.memory = found->file ? nullptr : found->address + offset;
        place.file = found->file.get();
    }

    void copy(const hbf_copy &copy) const {
        if (out_.flags & ~HBF_COPY_CRC32C) refuse(index_, fmt::format("unknown copy flags {:#x}", out_.flags));
        if ((out_.flags & HBF_COPY_CRC32C) && !copy.crc) refuse(index_, "a CRC is asked for but crc is NULL");
        place(out_.dst, "destination", copy.dst, copy.dst_offset, copy.size);
        place(out_.src, "source", copy.src, copy.src_offset, copy.size);
        out_.size = copy.size;
        out_.crc = (out_.flags & HBF_COPY_CRC32C) ? copy.crc : nullptr;
        if (overlap(out_.dst, copy.size, out_.src, copy.size))
            refuse(index_,
                   fmt::format("source (region {:#x} at {}) and destination (region {:#x} at {}) overlap in {} bytes",
                               copy.src, copy.src_offset, copy.dst, copy.dst_offset, copy.size),
                   copy.dst, copy.dst_offset);
    }

    void fill(const hbf_fill &fill) const {
        const uint32_t width = fill.pattern_size;
        if (width != 1 && width != 2 && width != 4 && width != 8)
            refuse(index_, fmt::format("pattern_size is {}, not 1, 2, 4 or 8", width));
        place(out_.dst, "destination", fill.dst, fill.dst_offset, fill.size);
        out_.size = fill.size, out_.pattern = fill.pattern, out_.pattern_size = width;
    }

    void range(const hbf_range &range) const {
        place(out_.dst, "range's", range.region, range.offset, range.size);
        out_.size = range.size;
    }

private:
    const uint64_t index_;
    RegionTable &regions_;
    Command &out_;
};

void take(uint64_t index, const hbf_command &in, RegionTable &regions, QueueFinder &queues, bool storage, Command &out) {
    out = Command{};
    out.kind = in.kind, out.flags = in.flags;
    if (in.kind != HBF_COMMAND_COPY && in.flags != 0)
        refuse(index, fmt::format("flags {:#x} on a command that has none", in.flags));
    const Taker taker(index, regions, out);
    switch (in.kind) {
    case HBF_COMMAND_COPY:
        taker.copy(in.u.copy);
        break;
    case HBF_COMMAND_FILL:
        taker.fill(in.u.fill);
        break;
    case HBF_COMMAND_FLUSH:
    case HBF_COMMAND_INVALIDATE:
        taker.range(in.u.range);
        break;
    case HBF_COMMAND_WAIT:
        if (!in.u.wait.queue) break;
        out.timeline = queues.find(in.u.wait.queue, in.u.wait.value);
        if (!out.timeline)
            refuse(index, fmt::format("wait: submit has not returned value {} of that queue", in.u.wait.value));
        out.value = in.u.wait.value;
        break;
    case HBF_COMMAND_LAUNCH:
        sdk::fail(HBF_UNSUPPORTED, fmt::format("command {}: the host plugin runs no kernels", index));
    default:
        refuse(index, fmt::format("unknown kind {}", in.kind));
    }
    if (out.touches_storage() && !storage)
        sdk::fail(HBF_UNSUPPORTED, fmt::format("command {}: this queue was made without storage", index),
                  out.dst.file ? out.dst.region : out.src.region);
}

} // namespace

void take_commands(const sdk::BatchView &batch, RegionTable &regions, QueueFinder &queues, bool storage, Command *out) {
    uint64_t index = 0;
    try {
        for (; index < batch.size(); ++index) take(index, batch[index], regions, queues, storage, out[index]);
    } catch (...) {
        give_back(out, index + 1, regions);
        throw;
    }
}

void give_back(const Command *commands, uint64_t count, RegionTable &regions) noexcept {
    for (uint64_t i = 0; i < count; ++i) {
        if (commands[i].dst.region) regions.unpin(commands[i].dst.region);
        if (commands[i].src.region) regions.unpin(commands[i].src.region);
        if (commands[i].timeline) commands[i].timeline->release();
    }
}

} // namespace hbf::host
