// SPDX-License-Identifier: Apache-2.0
// From checked commands to OpenCL's.
#pragma once

#include "plugins/opencl/context.hpp"
#include "plugins/opencl/kernels/launcher.hpp"
#include "plugins/opencl/queue/command.hpp"

namespace hbf::opencl {

// Bytes that a command reads from the host while it runs: the ends of a fill that are no whole pattern.
struct Scrap {
    unsigned char head[8], tail[8];
};

// [one thread at a time] Everything goes into one in-order queue.
class Issuer {
public:
    Issuer(const Context &context, Regions &regions, Launcher *launcher, uint32_t most_buffers); // throws

    // Enqueues it. *event is nullptr if there was nothing to do; else its end is the command's, well or not. Where the
    // driver refuses, nothing of the command has begun, or (`*event` set) what has begun ends with it.
    cl_int issue(const Command &command, Scrap &scrap, cl_event *event) noexcept;
    cl_int wait_for(cl_event before, cl_event *event) noexcept; // what comes after runs after it
    cl_int flush() noexcept { return context_.cl.Flush(queue_.get()); }
    cl_int finish() noexcept { return context_.cl.Finish(queue_.get()); }

private:
    cl_int copy(const Command &command, cl_event *event) noexcept;
    cl_int bounce(const Command &command, cl_event *event) noexcept;
    cl_int fill(const Command &command, Scrap &scrap, cl_event *event) noexcept;
    cl_int fill_host(const Command &command, cl_event *event) noexcept;
    cl_int carry(const Command &command, cl_event *event) noexcept;
    cl_int launch(const Command &command, cl_event *event) noexcept;

    const Context &context_;
    Regions &regions_;
    Launcher *launcher_;
    uint64_t line_;
    OwnedBuffer staging_; // for what is between two places of the host
    std::unique_ptr<LaunchPlace[]> places_;
    OwnedQueue queue_; // ends first
};

} // namespace hbf::opencl
