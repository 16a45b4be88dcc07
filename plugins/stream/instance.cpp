// SPDX-License-Identifier: Apache-2.0
#include "plugins/stream/instance.hpp"

#include <utility>

namespace hbf::stream {
namespace {

hbf_region_info info_of(const Region &region) {
    hbf_region_info info{};
    info.struct_size = sizeof info;
    info.tier = region.tier;
    info.size = region.size;
    info.page_size = region.page_size;
    info.address = region.host;
    return info;
}

} // namespace

hbf_region_info Instance::alloc(const sdk::AllocRequest &request) {
    std::unique_ptr<Region> made = make(request);
    hbf_region_info info = info_of(*made);
    info.region = regions_.insert(std::move(made));
    return info;
}

hbf_region_info Instance::register_host(void *address, uint64_t size) {
    std::unique_ptr<Region> made = make_registered(address, size);
    hbf_region_info info = info_of(*made);
    info.region = regions_.insert(std::move(made));
    return info;
}

hbf_queue_info Instance::queue_info() const {
    return queue_facts(limits_, kernels_ != nullptr);
}

std::unique_ptr<sdk::Queue> Instance::create_queue(const sdk::QueueRequest &request) {
    return std::make_unique<StreamQueue>(request, limits_, [this] { return make_stream(); }, regions_, kernels_.get());
}

} // namespace hbf::stream
