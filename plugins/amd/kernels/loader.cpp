// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/kernels/loader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "kernels/device/images.hpp"
#include "plugins/amd/kernels/architecture.hpp"
#include "plugins/amd/kernels/compile.hpp"
#include "plugins/amd/on_device.hpp"

namespace hbf::amd {

namespace device = kernels::device;

Loader::Loader(const DeviceFacts &facts, const sdk::Log &log)
    : facts_(facts), log_(log), architecture_(architecture_of(library().hip, facts.ordinal)) {
    for (size_t i = 0; i < 3; ++i) {
        most_items[i] = facts.block[i];
        // The grid is counted in work-items of 32 bits.
        most_groups[i] = std::min(facts.grid[i], 0xffff'ffffu / std::max(facts.block[i], 1u));
    }
}

Loader::~Loader() {
    const OnDevice here(facts_.ordinal);
    for (const Module module : modules_) (void)taken(library().hip.ModuleUnload(module));
}

// Every device of HIP has 64-bit atomics, fp16 and fp64; its memory model is the one that HIP's atomics are written in.
std::string Loader::missing(const device::Kernel &kernel) const {
    if (facts_.shared_memory != 0 && kernel.local_size > facts_.shared_memory)
        return fmt::format("it needs {} bytes of a group's memory, of which the device has {}", kernel.local_size,
                           facts_.shared_memory);
    return {};
}

stream::LoadedKernel Loader::load(const device::Kernel &kernel) {
    const OnDevice here(facts_.ordinal);
    check(here.code(), "hipSetDevice");
    stream::LoadedKernel out;
    Function function = from_image(kernel, out.origin);
    if (!function) function = from_text(kernel, out.origin);
    out.function = function;
    int most = 0;
    const Hip &hip = library().hip;
    check(hip.FuncGetAttribute(&most, flag::function_max_threads, function),
          fmt::format("kernel {}: hipFuncGetAttribute", kernel.name));
    if (most <= 0)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("kernel {}: {} has not the room for one work-item of it", kernel.name, facts_.name));
    out.max_group_size = static_cast<uint32_t>(most);
    // A compute unit runs a group from its beginning to its end, and an idle device spreads a launch over all of them.
    out.concurrent_groups = facts_.compute_units;
    return out;
}

Module Loader::load_module(const void *code, Code &result) {
    Module module = nullptr;
    result = taken(library().hip.ModuleLoadData(&module, code));
    if (result != code::success) return nullptr;
    modules_.push_back(module);
    return module;
}

Function Loader::from_image(const device::Kernel &kernel, std::string &origin) {
    const std::string base = architecture_.substr(0, architecture_.find(':'));
    const device::Image *const image = base.empty() ? nullptr : device::image_for(base);
    if (!image) return nullptr;
    const std::lock_guard lock(mutex_);
    if (!image_tried_) {
        image_tried_ = true;
        Code code = code::success;
        image_ = load_module(image->bytes.data(), code);
        if (!image_)
            log_.warning(fmt::format("the kernels built for {} are not taken by {}: hipModuleLoadData gives {}; each is "
                                     "compiled when it is first used",
                                     base, facts_.name, error_text(code)));
    }
    if (!image_) return nullptr;
    Function function = nullptr;
    const std::string name(kernel.function);
    if (const Code code = taken(library().hip.ModuleGetFunction(&function, image_, name.c_str())); code != code::success) {
        log_.warning(fmt::format("kernel {} is not in the image for {}: hipModuleGetFunction gives {}; it is compiled",
                                 kernel.name, base, error_text(code)));
        return nullptr;
    }
    origin = "prebuilt " + base;
    return function;
}

Function Loader::from_text(const device::Kernel &kernel, std::string &origin) {
    const std::string object = compile(kernel, architecture_, log_);
    const std::lock_guard lock(mutex_);
    Code code = code::success;
    const Module module = load_module(object.data(), code);
    if (!module)
        sdk::fail(error_status(code),
                  fmt::format("kernel {}: hipModuleLoadData of what hipRTC made: {}", kernel.name, error_text(code)));
    Function function = nullptr;
    const std::string name(kernel.function);
    check(library().hip.ModuleGetFunction(&function, module, name.c_str()),
          fmt::format("kernel {}: hipModuleGetFunction", kernel.name));
    origin = "built at run time by hipRTC";
    return function;
}

} // namespace hbf::amd
