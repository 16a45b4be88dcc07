// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/kernels/loader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plugins/level_zero/errors.hpp"

namespace hbf::level_zero {

namespace device = kernels::device;

KernelModules::KernelModules(const Context &context, const sdk::Log &log)
    : context_(context), log_(log), loaded_(device::catalogue().size()) {
    most_items = context.facts.group_extent;
    most_groups = context.facts.group_count;
}

KernelModules::~KernelModules() {
    if (module_) context_.ze.zeModuleDestroy(module_);
}

std::string KernelModules::missing(const device::Kernel &kernel) const {
    const DeviceFacts &facts = context_.facts;
    std::string out;
    const auto need = [&](bool is_there, const std::string &what) {
        if (!is_there) out += (out.empty() ? "it needs " : ", ") + what;
    };
    need(!spirv_image().empty(), "SPIR-V, for which there was no compiler (clang-15 and llvm-spirv-15) when HBF was built");
    need(!(kernel.needs & device::needs_int64_atomics) || (facts.modules & ze::has_int64_atomics),
         "64-bit atomics (ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS)");
    need(!(kernel.needs & device::needs_fp16) || (facts.modules & ze::has_fp16), "fp16 (ZE_DEVICE_MODULE_FLAG_FP16)");
    need(!(kernel.needs & device::needs_fp64) || (facts.modules & ze::has_fp64), "fp64 (ZE_DEVICE_MODULE_FLAG_FP64)");
    need(kernel.local_size <= facts.local_bytes,
         fmt::format("{} bytes of local memory, of which the device has {}", kernel.local_size, facts.local_bytes));
    const uint64_t arguments = kernel.arguments_size + 16 * uint64_t{kernel.buffer_count};
    need(arguments <= facts.argument_bytes,
         fmt::format("{} bytes of arguments, of which the device takes {}", arguments, facts.argument_bytes));
    return out;
}

ze::Module KernelModules::module() {
    const std::lock_guard lock(mutex_);
    if (module_) return module_;
    const Functions &ze = context_.ze;
    const std::string_view image = spirv_image();
    ze::ModuleDesc desc;
    desc.inputSize = image.size();
    desc.pInputModule = reinterpret_cast<const uint8_t *>(image.data());
    desc.pBuildFlags = "";
    ze::Module made = nullptr;
    ze::BuildLog build_log = nullptr;
    const ze::Result code = ze.zeModuleCreate(context_.context.handle, context_.device, &desc, &made, &build_log);
    std::string said;
    if (build_log) {
        size_t size = 0;
        if (ze.zeModuleBuildLogGetString(build_log, &size, nullptr) == ze::success && size > 1) {
            said.resize(size);
            if (ze.zeModuleBuildLogGetString(build_log, &size, said.data()) != ze::success) said.clear();
            said.resize(std::min(said.find('\0'), said.size()));
        }
        ze.zeModuleBuildLogDestroy(build_log);
    }
    if (code != ze::success) {
        log_.write(HBF_LOG_ERROR, fmt::format("the kernels do not build on {}: {}; the compiler said: {}",
                                              context_.facts.name, error_text(code), said.empty() ? "nothing" : said));
        const hbf_status status = code == ze::device_lost ? HBF_DEVICE_LOST : HBF_UNAVAILABLE;
        const std::string first = said.substr(0, std::min(said.find('\n'), size_t{300}));
        sdk::fail(status, fmt::format("the kernels do not build on {} ({}): {}; the log has all of it", context_.facts.name,
                                      error_text(code), first.empty() ? "the compiler said nothing" : first));
    }
    return module_ = made;
}

ze::Result KernelModules::make_kernel(const LoadedModule &loaded, ze::Kernel &out) const noexcept {
    ze::KernelDesc desc;
    desc.pKernelName = loaded.function.c_str();
    return context_.ze.zeKernelCreate(loaded.module, &desc, &out);
}

stream::LoadedKernel KernelModules::load(const device::Kernel &kernel) {
    const size_t index = static_cast<size_t>(&kernel - device::catalogue().data());
    LoadedModule &loaded = loaded_[index];
    loaded = {index, module(), std::string(kernel.function)};
    struct Made {
        const Functions &ze;
        ze::Kernel kernel = nullptr;
        ~Made() {
            if (kernel) ze.zeKernelDestroy(kernel);
        }
    } made{context_.ze};
    check(make_kernel(loaded, made.kernel), fmt::format("kernel {}: zeKernelCreate", kernel.name));
    ze::KernelProperties properties{};
    check(context_.ze.zeKernelGetProperties(made.kernel, &properties),
          fmt::format("kernel {}: zeKernelGetProperties", kernel.name));
    if (properties.numKernelArgs != 2 * kernel.buffer_count + 1)
        sdk::fail(HBF_UNAVAILABLE, fmt::format("kernel {}: it has {} parameters instead of {}", kernel.name,
                                               properties.numKernelArgs, 2 * kernel.buffer_count + 1));
    uint32_t most = context_.facts.most_items;
    if (const uint64_t items = uint64_t{properties.maxSubgroupSize} * properties.maxNumSubgroups; items != 0)
        most = static_cast<uint32_t>(std::min<uint64_t>(most, items));
    return {&loaded, most, "SPIR-V, built by the driver", concurrent_groups(made.kernel, most)};
}

// A subslice runs a group from its beginning to its end, and an idle device spreads a launch over all of them; a driver that
// knows how many groups of a kernel may wait for each other knows better.
uint32_t KernelModules::concurrent_groups(ze::Kernel kernel, uint32_t items) const {
    const Functions &ze = context_.ze;
    uint32_t count = 0;
    if (ze.zeKernelSuggestMaxCooperativeGroupCount && ze.zeKernelSetGroupSize(kernel, items, 1, 1) == ze::success &&
        ze.zeKernelSuggestMaxCooperativeGroupCount(kernel, &count) == ze::success && count != 0)
        return std::min(count, context_.facts.units);
    return context_.facts.units;
}

} // namespace hbf::level_zero
