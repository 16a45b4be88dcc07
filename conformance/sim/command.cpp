// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/command.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include <fmt/format.h>

namespace hbf::sim {
namespace {

class Check {
public:
    Check(uint64_t index, Regions &regions) : index_(index), regions_(regions) {}

    [[noreturn]] void refuse(const std::string &what, const Place &place = {}) const {
        sdk::fail(HBF_INVALID, fmt::format("command {}: {}", index_, what), place.handle,
                  place.handle ? place.offset : HBF_NO_PLACE);
    }

    void range(Place &place, hbf_region handle, uint64_t offset, uint64_t size) const {
        std::unique_ptr<Region> *const found = regions_.pin(handle);
        if (!found) sdk::fail(HBF_INVALID, fmt::format("command {}: stale region {:#x}", index_, handle), handle);
        place = {handle, found->get(), offset};
        if (size == 0) refuse("its size is 0", place);
        if (offset > place.region->size || size > place.region->size - offset)
            refuse(fmt::format("{} bytes at {} leave the region's {} bytes", size, offset, place.region->size), place);
    }

    void copy(const hbf_copy &copy, uint32_t flags, Command &out) const {
        if (flags & ~HBF_COPY_CRC32C) refuse(fmt::format("unknown flags {:#x} of a copy", flags));
        if (flags && !copy.crc) refuse("a checksum is wanted, but crc is NULL");
        range(out.dst, copy.dst, copy.dst_offset, copy.size);
        range(out.src, copy.src, copy.src_offset, copy.size);
        out.crc = flags ? copy.crc : nullptr;
        out.size = copy.size;
        const std::byte *const to = out.dst.region->store.at(copy.dst_offset);
        const std::byte *const from = out.src.region->store.at(copy.src_offset);
        if (to < from + copy.size && from < to + copy.size) refuse("source and destination overlap", out.dst);
    }

    void fill(const hbf_fill &fill, Command &out) const {
        if (fill.pattern_size != 1 && fill.pattern_size != 2 && fill.pattern_size != 4 && fill.pattern_size != 8)
            refuse(fmt::format("a pattern has 1, 2, 4 or 8 bytes, not {}", fill.pattern_size));
        range(out.dst, fill.dst, fill.dst_offset, fill.size);
        out.size = fill.size, out.pattern = fill.pattern, out.pattern_size = fill.pattern_size;
    }

    void wait(const hbf_wait &wait, Command &out) const {
        if (!wait.queue) return; // a barrier
        out.timeline = waited_timeline(wait);
        if (!out.timeline) refuse(fmt::format("wait: submit has not returned value {}", wait.value));
        out.value = wait.value;
    }

    // What runs is the kernel's own code: anything that is not as it expects would read or write somewhere.
    void launch(const hbf_launch &launch, Launch &out) const {
        out.count = 0;
        out.kernel = kernel_of(launch.kernel);
        if (!out.kernel) refuse(fmt::format("no kernel has the id {:#x}", launch.kernel));
        const auto expect = [&](const char *what, uint64_t wanted, uint64_t given, const void *at) {
            if (given != wanted) refuse(fmt::format("{} takes {} {}, not {}", out.kernel->name, wanted, what, given));
            if (given != 0 && !at) refuse(fmt::format("{} are NULL, {} takes {}", what, out.kernel->name, wanted));
        };
        expect("buffers", out.kernel->buffer_count, launch.buffer_count, launch.buffers);
        expect("bytes of arguments", out.kernel->arguments_size, launch.arguments_size, launch.arguments);
        uint64_t items = 1;
        for (int i = 0; i < 3; ++i) {
            if (launch.groups[i] == 0 || launch.group_size[i] == 0) refuse(fmt::format("dimension {} has nothing in it", i));
            items *= launch.group_size[i];
            if (items > most_group_size) refuse(fmt::format("a group is at most {} work-items", most_group_size));
        }
        std::copy_n(launch.groups, 3, out.groups);
        std::copy_n(launch.group_size, 3, out.group_size);
        if (launch.arguments_size != 0) std::memcpy(out.arguments.data(), launch.arguments, launch.arguments_size);
        for (uint64_t i = 0; i < launch.buffer_count; ++i) buffer(i, launch.buffers[i], out);
    }

    void buffer(uint64_t i, const hbf_kernel_buffer &buffer, Launch &out) const {
        constexpr uint32_t known = HBF_KERNEL_READS | HBF_KERNEL_WRITES;
        Launch::Buffer &to = out.buffers[out.count++] = {};
        to.size = buffer.size;
        to.written = (buffer.access | out.kernel->access[i]) & HBF_KERNEL_WRITES;
        range(to.place, buffer.region, buffer.offset, buffer.size);
        if (!to.place.region->kernels) refuse(fmt::format("buffer {}: no kernel reaches its region", i), to.place);
        if (buffer.offset % 8 != 0)
            refuse(fmt::format("buffer {}: its offset {} is no multiple of 8", i, buffer.offset), to.place);
        if (buffer.access == 0 || (buffer.access & ~known))
            refuse(fmt::format("buffer {}: access {:#x} is not reads, writes or both", i, buffer.access), to.place);
    }

    void take(const hbf_command &in, Command &out) const {
        out.kind = in.kind;
        if (in.kind == HBF_COMMAND_COPY) return copy(in.u.copy, in.flags, out);
        if (in.flags != 0) refuse(fmt::format("flags {:#x} on a command that has none", in.flags));
        switch (in.kind) {
        case HBF_COMMAND_FILL:
            return fill(in.u.fill, out);
        case HBF_COMMAND_FLUSH:
        case HBF_COMMAND_INVALIDATE:
            range(out.dst, in.u.range.region, in.u.range.offset, in.u.range.size);
            out.size = in.u.range.size;
            return;
        case HBF_COMMAND_WAIT:
            return wait(in.u.wait, out);
        case HBF_COMMAND_LAUNCH:
            if (!out.launch) out.launch = std::make_unique<Launch>();
            return launch(in.u.launch, *out.launch);
        default:
            refuse(fmt::format("unknown kind {}", in.kind));
        }
    }

private:
    uint64_t index_;
    Regions &regions_;
};

} // namespace

void take_commands(const sdk::BatchView &batch, Regions &regions, Command *out) {
    uint64_t i = 0;
    try {
        for (; i < batch.size(); ++i) {
            out[i].clear();
            Check(i, regions).take(batch[i], out[i]);
        }
    } catch (...) {
        give_back(out, i + 1, regions);
        throw;
    }
}

void give_back(Command *commands, uint64_t count, Regions &regions) noexcept {
    for (uint64_t i = 0; i < count; ++i) {
        each_place(commands[i], [&](const Place &place, uint64_t, bool) {
            if (place.handle) regions.unpin(place.handle);
        });
        commands[i].clear();
    }
}

namespace {

// Flush and invalidate move whole lines, both ways for all that others see.
bool meet(const Place &a, uint64_t a_size, const Place &b, uint64_t b_size) {
    if (!a.region || a.region != b.region) return false;
    constexpr uint64_t widest_line = 4096;
    const auto first = [](uint64_t offset) { return offset / widest_line; };
    return first(a.offset) <= first(b.offset + b_size - 1) && first(b.offset) <= first(a.offset + a_size - 1);
}

} // namespace

bool conflict(const Command &a, const Command &b) {
    bool found = false;
    each_place(a, [&](const Place &in_a, uint64_t a_size, bool a_written) {
        each_place(b, [&](const Place &in_b, uint64_t b_size, bool b_written) {
            found |= (a_written || b_written) && meet(in_a, a_size, in_b, b_size);
        });
    });
    return found;
}

} // namespace hbf::sim
