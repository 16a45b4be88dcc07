// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/kernels/loader.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "kernels/device/images.hpp"
#include "plugins/nvidia/errors.hpp"
#include "plugins/nvidia/kernels/nvrtc.hpp"

namespace hbf::nvidia {

namespace device = kernels::device;

KernelImages::KernelImages(const Context &context, const sdk::Log &log)
    : context_(context), log_(log),
      shared_bytes_(attribute(context.cuda, context.facts.device, cuda::shared_per_block, 49152)) {
    const auto limit = [&](int which, uint32_t otherwise) {
        return static_cast<uint32_t>(
            std::max(attribute(context.cuda, context.facts.device, which, static_cast<int>(otherwise)), 1));
    };
    most_items = {limit(cuda::max_block_x, 1024), limit(cuda::max_block_y, 1024), limit(cuda::max_block_z, 64)};
    most_groups = {limit(cuda::max_grid_x, 0x7fffffff), limit(cuda::max_grid_y, 65535), limit(cuda::max_grid_z, 65535)};
}

KernelImages::~KernelImages() {
    const Current current(context_);
    for (const cuda::Module module : modules_) (void)context_.cuda.ModuleUnload(module);
}

// CUDA has all else that kernels ask for since compute capability 6.0: fp64, fp16, 64-bit atomics, scopes.
std::string KernelImages::missing(const device::Kernel &kernel) const {
    if (context_.facts.major < 6)
        return fmt::format("it needs compute capability 6.0, this has {}.{}", context_.facts.major, context_.facts.minor);
    if (kernel.local_size > static_cast<uint32_t>(std::max(shared_bytes_, 0)))
        return fmt::format("it needs {} bytes of shared memory, of which a block has {}", kernel.local_size, shared_bytes_);
    return "";
}

cuda::Module KernelImages::load_image(const std::string &image, const std::string &what) {
    const Current current(context_);
    check(context_.cuda, current.code(), "cuCtxPushCurrent");
    cuda::Module module = nullptr;
    const std::string loading = "cuModuleLoadData of " + what; // before it: nothing that fails may follow it
    check(context_.cuda, context_.cuda.ModuleLoadData(&module, image.data()), loading);
    const std::lock_guard lock(mutex_);
    try {
        modules_.push_back(module);
    } catch (...) {
        (void)context_.cuda.ModuleUnload(module);
        throw;
    }
    return module;
}

// nullptr where there is none, or the driver does not take it: said once, and kernels are compiled.
cuda::Module KernelImages::prebuilt() {
    const std::string architecture = context_.facts.architecture();
    const device::Image *const image = device::image_for(architecture);
    if (!image) return nullptr;
    {
        const std::lock_guard lock(mutex_);
        if (prebuilt_ || prebuilt_failed_) return prebuilt_;
    }
    try {
        cuda::Module const module = load_image(std::string(image->bytes), "the prebuilt image for " + architecture);
        const std::lock_guard lock(mutex_);
        return prebuilt_ = module;
    } catch (const sdk::Failure &why) {
        log_.warning(why.message + "; kernels are compiled at run time instead");
        const std::lock_guard lock(mutex_);
        prebuilt_failed_ = true;
        return nullptr;
    }
}

cuda::Module KernelImages::compiled(const device::Kernel &kernel) {
    std::string log;
    std::string image;
    try {
        image = compile_cuda(std::string(kernel.source), std::string(kernel.function), context_.facts.architecture(), log);
    } catch (const sdk::Failure &) {
        if (!log.empty()) log_.warning(fmt::format("kernel {}: {}", kernel.name, log));
        throw;
    }
    return load_image(
        image, fmt::format("kernel {}, compiled by {} for {}", kernel.name, nvrtc_version(), context_.facts.architecture()));
}

stream::LoadedKernel KernelImages::function_of(cuda::Module module, const device::Kernel &kernel, std::string origin) {
    const Current current(context_);
    stream::LoadedKernel out;
    cuda::Function function = nullptr;
    const std::string name(kernel.function);
    check(context_.cuda, context_.cuda.ModuleGetFunction(&function, module, name.c_str()), "cuModuleGetFunction of " + name);
    int threads = 0;
    check(context_.cuda, context_.cuda.FuncGetAttribute(&threads, cuda::max_threads_per_block, function),
          "cuFuncGetAttribute of " + name);
    out.function = function;
    out.max_group_size = static_cast<uint32_t>(std::max(threads, 1));
    out.origin = std::move(origin);
    // A multiprocessor holds at least one block, and an idle device spreads them over all of them.
    out.concurrent_groups = static_cast<uint32_t>(std::max(context_.facts.multiprocessors, 1));
    // An emulated one runs them on this machine's CPUs, however many multiprocessors it is said to have.
    if (context_.facts.emulated())
        out.concurrent_groups = std::clamp(std::thread::hardware_concurrency(), 1u, out.concurrent_groups);
    return out;
}

stream::LoadedKernel KernelImages::load(const device::Kernel &kernel) {
    if (cuda::Module const module = prebuilt())
        return function_of(module, kernel, "prebuilt " + context_.facts.architecture());
    return function_of(compiled(kernel), kernel, "built at run time by " + nvrtc_version());
}

} // namespace hbf::nvidia
