// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/instance.hpp"

#include <fmt/format.h>

#include "plugins/level_zero/memory/truth.hpp"
#include "plugins/level_zero/queue/ze_stream.hpp"

namespace hbf::level_zero {

ZeInstance::ZeInstance(const Functions &ze, const Opened &opened, const Options &options, uint64_t host_bytes, int node,
                       const sdk::Log &log)
    : context_(ze, opened), copy_engine_(options.copy_engine), tiers_(context_, options, host_bytes, node, log),
      health_(open_health(context_, log)) {
    context_.try_out();
    prove_host_memory(context_, copy_engine_);
    if (copy_engine_ && context_.facts.copy_group == no_group)
        log.info(fmt::format("{} has no copy engine of its own: copies go to its compute engine", context_.facts.name));
    if (spirv_image().empty()) {
        log.warning(fmt::format("{} runs no kernels: there was no compiler for SPIR-V (clang-15 and llvm-spirv-15) when HBF "
                                "was built",
                                context_.facts.name));
        return;
    }
    auto modules = std::make_unique<KernelModules>(context_, log);
    modules_ = modules.get();
    serve_kernels(std::make_unique<stream::KernelTable>(std::move(modules)));
}

// The driver reads and writes any memory of the process when a copy runs, not when it is appended: the region lives until
// then. Kernels reach what a driver allocated.
std::unique_ptr<stream::Region> ZeInstance::make_registered(void *address, uint64_t size) {
    auto region = std::make_unique<ZeRegion>();
    region->size = size;
    region->at = reinterpret_cast<uint64_t>(address);
    region->host = static_cast<std::byte *>(address);
    return region;
}

std::unique_ptr<stream::StreamApi> ZeInstance::make_stream() {
    return std::make_unique<ZeStream>(context_, modules_, copy_engine_);
}

} // namespace hbf::level_zero
