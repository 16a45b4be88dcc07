// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/instance.hpp"

#include <utility>

#include <fmt/format.h>

#include "plugins/opencl/errors.hpp"
#include "plugins/opencl/queue/queue.hpp"

namespace hbf::opencl {

OpenClInstance::OpenClInstance(const OpenedDevice &device, const OpenClOptions &options, const sdk::Log &log)
    : context_(library(), device.platform, device.device), tiers_(context_, options) {
    if (!context_.facts.compiler) {
        log.info(fmt::format("{} has no compiler (CL_DEVICE_COMPILER_AVAILABLE): it runs no kernels", context_.facts.name));
        return;
    }
    kernels_ = std::make_unique<DeviceKernels>(context_.cl, context_.context.get(), device.device, log);
}

OpenClInstance::~OpenClInstance() {
    regions_.drain([](std::unique_ptr<Region> &) {});
}

hbf_region_info OpenClInstance::alloc(const sdk::AllocRequest &request) {
    std::unique_ptr<Region> made = tiers_.make(request);
    hbf_region_info info{};
    info.struct_size = sizeof info;
    info.tier = request.tier;
    info.size = request.size;
    info.address = made->address;
    Region *const region = made.get();
    try {
        info.region = regions_.insert(std::move(made));
    } catch (...) {
        tiers_.give_back(*region); // still there: insert takes it over at its end
        throw;
    }
    return info;
}

void OpenClInstance::free(hbf_region region) {
    const std::unique_ptr<Region> ended = regions_.take(region);
    tiers_.give_back(*ended);
}

hbf_region_info OpenClInstance::register_host(void *address, uint64_t size) {
    auto made = std::make_unique<Region>();
    made->sort = Sort::registered;
    made->size = made->bytes = size;
    made->address = static_cast<std::byte *>(address);
    hbf_region_info info{};
    info.struct_size = sizeof info;
    info.tier = HBF_TIER_NONE;
    info.size = size;
    info.address = address;
    info.region = regions_.insert(std::move(made));
    return info;
}

hbf_queue_info OpenClInstance::queue_info() const {
    return queue_facts(context_.facts, kernels_ != nullptr);
}

std::unique_ptr<sdk::Queue> OpenClInstance::create_queue(const sdk::QueueRequest &request) {
    return std::make_unique<OpenClQueue>(request, context_, regions_, kernels_.get());
}

} // namespace hbf::opencl
