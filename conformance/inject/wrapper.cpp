// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/wrapper.hpp"

#include <algorithm>
#include <string_view>

namespace hbf::inject {

Stack::Stack(const hbf_plugin &plugin, std::vector<std::unique_ptr<Fault>> faults)
    : device_(plugin, !faults.empty()), faults_(std::move(faults)) {
    Layer *below = &device_;
    unsigned index = 0;
    for (const auto &fault : faults_) {
        fault->put_on(*below, index++);
        fault->attach(device_);
        below = fault.get();
    }
}

Instance::Instance(std::unique_ptr<Stack> stack) : stack_(std::move(stack)), top_(&stack_->top()) {
    top_->shape(tables_);
    use_own_functions(tables_);
}

const void *Instance::extension(std::string_view id) const {
    if (id == HBF_EXT_TIER && tables_.has_tier) return &tables_.tier;
    if (id == HBF_EXT_QUEUE && tables_.has_queue) return &tables_.queue;
    if (id == HBF_EXT_COHERENCE && tables_.has_coherence) return &tables_.coherence;
    if (id == HBF_EXT_KERNELS && tables_.has_kernels) return &tables_.kernels;
    if (id == HBF_EXT_HEALTH && tables_.has_health) return &tables_.health;
    return nullptr;
}

hbf_status Instance::create_queue(const hbf_queue_desc *desc, hbf_queue **out, hbf_error *error) {
    auto queue = std::make_unique<Queue>();
    queue->owner = this;
    queue->top = top_;
    for (const auto &fault : stack_->faults()) queue->states.push_back(fault->remember_queue());
    {
        std::lock_guard lock(mutex_);
        queues_.reserve(queues_.size() + 1); // nothing may fail once the plugin has made one
    }
    const hbf_status status = top_->create_queue(desc, *queue, error);
    if (status != HBF_OK || !queue->real) {
        // As the plugin left it: whether a failure left something behind there is for the host to see.
        if (out) *out = queue->real;
        return status;
    }
    std::lock_guard lock(mutex_);
    *out = queue->handle();
    queues_.push_back(std::move(queue));
    return status;
}

hbf_status Instance::destroy_queue(Queue &queue, hbf_error *error) {
    const hbf_status status = queue.top->destroy_queue(queue, error);
    if (status != HBF_OK) return status;
    stack_->device().forget(queue);
    std::lock_guard lock(mutex_);
    std::erase_if(queues_, [&](const auto &one) { return one.get() == &queue; });
    return status;
}

} // namespace hbf::inject
