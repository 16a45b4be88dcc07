// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/queue/issue.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "plugins/opencl/errors.hpp"

namespace hbf::opencl {
namespace {

constexpr uint64_t staging_size = 1 << 20; // a multiple of every pattern's size

bool in_host(const Place &place) {
    return place.region->sort == Sort::registered;
}

// Steps of one command: each waits for the one before, so that a step that fails takes those after it along, and the last
// one's event tells of all.
class Steps {
public:
    Steps(const Functions &cl, cl_event *last) : cl_(cl), last_(*last) { last_ = nullptr; }
    cl_uint count() const { return last_ ? 1 : 0; }
    const cl_event *waits() const { return last_ ? &last_ : nullptr; }
    template <class Enqueue>
    cl_int take(Enqueue &&enqueue) {
        cl_event made = nullptr;
        const cl_int code = enqueue(count(), waits(), &made);
        if (code != CL_SUCCESS) return code;
        if (last_) cl_.ReleaseEvent(last_);
        last_ = made;
        return code;
    }

private:
    const Functions &cl_;
    cl_event &last_;
};

// `from` as it repeats from its byte `shift` on.
void rotate(const unsigned char *from, uint32_t size, uint64_t shift, unsigned char *to, uint64_t bytes) {
    for (uint64_t i = 0; i < bytes; ++i) to[i] = from[(shift + i) % size];
}

} // namespace

Issuer::Issuer(const Context &context, Regions &regions, Launcher *launcher, uint32_t most_buffers)
    : context_(context), regions_(regions), launcher_(launcher), line_(context.facts.line),
      places_(new LaunchPlace[most_buffers]), queue_(context.make_queue()) {
    cl_int code = CL_SUCCESS;
    staging_.reset(context.cl.CreateBuffer(context.context.get(), CL_MEM_READ_WRITE, staging_size, nullptr, &code));
    check(code, "clCreateBuffer of a queue's staging buffer");
}

cl_int Issuer::issue(const Command &command, Scrap &scrap, cl_event *event) noexcept {
    *event = nullptr;
    switch (command.kind) {
    case HBF_COMMAND_COPY:
        return copy(command, event);
    case HBF_COMMAND_FILL:
        return in_host(command.dst) ? fill_host(command, event) : fill(command, scrap, event);
    case HBF_COMMAND_FLUSH:
    case HBF_COMMAND_INVALIDATE:
        return command.dst.region->sort == Sort::mapped ? carry(command, event) : CL_SUCCESS;
    case HBF_COMMAND_LAUNCH:
        return launch(command, event);
    default: // a barrier: the queue is in order
        return CL_SUCCESS;
    }
}

cl_int Issuer::wait_for(cl_event before, cl_event *event) noexcept {
    return context_.cl.EnqueueBarrierWithWaitList(queue_.get(), 1, &before, event);
}

cl_int Issuer::copy(const Command &command, cl_event *event) noexcept {
    const Functions &cl = context_.cl;
    const Place &dst = command.dst, &src = command.src;
    if (in_host(dst) && in_host(src)) return bounce(command, event);
    if (in_host(src))
        return cl.EnqueueWriteBuffer(queue_.get(), dst.region->buffer.get(), CL_FALSE, dst.in_buffer(), command.size,
                                     src.in_host(), 0, nullptr, event);
    if (in_host(dst))
        return cl.EnqueueReadBuffer(queue_.get(), src.region->buffer.get(), CL_FALSE, src.in_buffer(), command.size,
                                    dst.in_host(), 0, nullptr, event);
    return cl.EnqueueCopyBuffer(queue_.get(), src.region->buffer.get(), dst.region->buffer.get(), src.in_buffer(),
                                dst.in_buffer(), command.size, 0, nullptr, event);
}

// OpenCL copies between buffers, or between a buffer and the host.
cl_int Issuer::bounce(const Command &command, cl_event *event) noexcept {
    const Functions &cl = context_.cl;
    Steps steps(cl, event);
    for (uint64_t done = 0; done < command.size; done += staging_size) {
        const uint64_t piece = std::min(staging_size, command.size - done);
        cl_int code = steps.take([&](cl_uint count, const cl_event *waits, cl_event *made) {
            return cl.EnqueueWriteBuffer(queue_.get(), staging_.get(), CL_FALSE, 0, piece, command.src.in_host() + done,
                                         count, waits, made);
        });
        if (code == CL_SUCCESS)
            code = steps.take([&](cl_uint count, const cl_event *waits, cl_event *made) {
                return cl.EnqueueReadBuffer(queue_.get(), staging_.get(), CL_FALSE, 0, piece, command.dst.in_host() + done,
                                            count, waits, made);
            });
        if (code != CL_SUCCESS) return code;
    }
    return CL_SUCCESS;
}

// clEnqueueFillBuffer takes whole patterns at multiples of their size. What stands before and after them is written.
cl_int Issuer::fill(const Command &command, Scrap &scrap, cl_event *event) noexcept {
    const Functions &cl = context_.cl;
    cl_mem const buffer = command.dst.region->buffer.get();
    unsigned char pattern[8], shifted[8];
    std::memcpy(pattern, &command.pattern, sizeof pattern); // little-endian, as the platform
    const uint32_t width = command.pattern_size;
    const uint64_t at = command.dst.in_buffer();
    const uint64_t head = std::min((width - at % width) % width, command.size);
    const uint64_t body = (command.size - head) / width * width, tail = command.size - head - body;
    rotate(pattern, width, 0, scrap.head, head);
    rotate(pattern, width, head, shifted, width);
    rotate(pattern, width, head + body, scrap.tail, tail);
    Steps steps(cl, event);
    const auto write = [&](uint64_t offset, uint64_t size, const unsigned char *from) {
        return size == 0 ? CL_SUCCESS : steps.take([&](cl_uint count, const cl_event *waits, cl_event *made) {
            return cl.EnqueueWriteBuffer(queue_.get(), buffer, CL_FALSE, offset, size, from, count, waits, made);
        });
    };
    cl_int code = write(at, head, scrap.head);
    if (code == CL_SUCCESS && body != 0)
        code = steps.take([&](cl_uint count, const cl_event *waits, cl_event *made) {
            return cl.EnqueueFillBuffer(queue_.get(), buffer, shifted, width, at + head, body, count, waits, made);
        });
    return code == CL_SUCCESS ? write(at + head + body, tail, scrap.tail) : code;
}

// The pattern goes into the staging buffer, and from there piece by piece to the host.
cl_int Issuer::fill_host(const Command &command, cl_event *event) noexcept {
    const Functions &cl = context_.cl;
    const uint64_t filled = std::min(staging_size, (command.size + 7) / 8 * 8);
    Steps steps(cl, event);
    cl_int code = steps.take([&](cl_uint count, const cl_event *waits, cl_event *made) {
        return cl.EnqueueFillBuffer(queue_.get(), staging_.get(), &command.pattern, command.pattern_size, 0, filled, count,
                                    waits, made);
    });
    for (uint64_t done = 0; code == CL_SUCCESS && done < command.size; done += staging_size)
        code = steps.take([&](cl_uint count, const cl_event *waits, cl_event *made) {
            return cl.EnqueueReadBuffer(queue_.get(), staging_.get(), CL_FALSE, 0,
                                        std::min(staging_size, command.size - done), command.dst.in_host() + done, count,
                                        waits, made);
        });
    return code;
}

// Flush and invalidate: whole lines, between the CPU's bytes and the buffer's.
cl_int Issuer::carry(const Command &command, cl_event *event) noexcept {
    const Functions &cl = context_.cl;
    const Region &region = *command.dst.region;
    const uint64_t begin = command.dst.offset / line_ * line_;
    const uint64_t end = std::min(region.bytes, (command.dst.offset + command.size + line_ - 1) / line_ * line_);
    std::byte *const host = region.address + begin;
    cl_mem const buffer = region.buffer.get();
    if (command.kind == HBF_COMMAND_FLUSH)
        return cl.EnqueueWriteBuffer(queue_.get(), buffer, CL_FALSE, region.base + begin, end - begin, host, 0, nullptr,
                                     event);
    return cl.EnqueueReadBuffer(queue_.get(), buffer, CL_FALSE, region.base + begin, end - begin, host, 0, nullptr, event);
}

cl_int Issuer::launch(const Command &command, cl_event *event) noexcept {
    const hbf_launch &launch = *command.launch;
    for (uint64_t i = 0; i < launch.buffer_count; ++i) {
        const hbf_kernel_buffer &buffer = launch.buffers[i];
        const Region &region = **regions_.find(buffer.region); // pinned
        places_[i] = {region.buffer.get(), nullptr, region.base + buffer.offset};
    }
    return launcher_->start(queue_.get(), launch, places_.get(), 0, nullptr, event);
}

} // namespace hbf::opencl
