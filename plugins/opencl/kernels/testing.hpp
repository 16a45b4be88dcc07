// SPDX-License-Identifier: Apache-2.0
// A kernel at work on any device, for tests.
#pragma once

#include <vector>

#include "plugins/opencl/context.hpp"
#include "plugins/opencl/errors.hpp"
#include "plugins/opencl/kernels/launcher.hpp"

namespace hbf::opencl {

// Copies words from one buffer to another by the kernel "copy/1" of a device.
class CopyByKernel {
public:
    static constexpr uint64_t words = 256, shift = 64; // bytes between the start of a buffer and what is copied

    CopyByKernel(const Context &context, DeviceKernels &kernels) : context_(context), launcher_(kernels) {
        hbf_kernel_info info{};
        kernels.find("copy/1", info);
        id_ = info.kernel;
        for (OwnedBuffer &buffer : buffers_) {
            cl_int code = CL_SUCCESS;
            buffer.reset(
                context.cl.CreateBuffer(context.context.get(), CL_MEM_READ_WRITE, shift + 8 * words, nullptr, &code));
            check(code, "clCreateBuffer");
        }
        queue_ = context.make_queue();
    }

    // What came out; `first` and following numbers went in.
    std::vector<uint64_t> run(uint64_t first) {
        const Functions &cl = context_.cl;
        std::vector<uint64_t> in(words), out(words);
        for (uint64_t i = 0; i < words; ++i) in[i] = first + i;
        check(cl.EnqueueWriteBuffer(queue_.get(), buffers_[0].get(), CL_TRUE, shift, 8 * words, in.data(), 0, nullptr,
                                    nullptr),
              "write");
        start(launch());
        check(cl.EnqueueReadBuffer(queue_.get(), buffers_[1].get(), CL_TRUE, shift, 8 * words, out.data(), 0, nullptr,
                                   nullptr),
              "read");
        check(cl.Finish(queue_.get()), "finish");
        return out;
    }
    void start(const hbf_launch &launch) {
        const LaunchPlace places[] = {{buffers_[0].get(), nullptr, shift}, {buffers_[1].get(), nullptr, shift}};
        launcher_.check(launch);
        check(launcher_.start(queue_.get(), launch, places, 0, nullptr, nullptr), "launch");
    }
    bool copies(uint64_t first) {
        const std::vector<uint64_t> out = run(first);
        for (uint64_t i = 0; i < words; ++i)
            if (out[i] != first + i) return false;
        return true;
    }

    // One that fits, over `size_`, for others to spoil.
    hbf_launch launch() {
        hbf_launch out{};
        out.kernel = id_;
        out.buffers = ranges_;
        out.buffer_count = 2;
        out.arguments = &size_;
        out.arguments_size = sizeof size_;
        for (size_t i = 0; i < 3; ++i) out.groups[i] = out.group_size[i] = 1;
        out.groups[0] = 3;
        out.group_size[0] = 32;
        return out;
    }
    Launcher &launcher() { return launcher_; }

private:
    const Context &context_;
    Launcher launcher_;
    uint64_t id_ = 0, size_ = 8 * words;
    hbf_kernel_buffer ranges_[2] = {{1, shift, 8 * words, HBF_KERNEL_READS, 0}, {2, shift, 8 * words, HBF_KERNEL_WRITES, 0}};
    OwnedBuffer buffers_[2];
    OwnedQueue queue_;
};

} // namespace hbf::opencl
