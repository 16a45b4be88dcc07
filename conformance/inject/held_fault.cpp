// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/held_fault.hpp"

#include <algorithm>
#include <bit>

namespace hbf::inject {

hbf_status HeldFault::create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) {
    const hbf_status status = below_->create_queue(desc, queue, e);
    if (status != HBF_OK || !queue.real) return status;
    std::lock_guard lock(queues_mutex_);
    queues_.push_back(&queue);
    return status;
}

hbf_status HeldFault::destroy_queue(Queue &queue, hbf_error *e) {
    release(queue);
    // The host may think that it is done: it must not learn otherwise here.
    if (const uint64_t told = state(queue).told; told != 0) below_->wait(queue, told, patience_ns, nullptr);
    const hbf_status status = below_->destroy_queue(queue, e);
    if (status != HBF_OK) return status;
    std::lock_guard lock(queues_mutex_);
    std::erase(queues_, &queue);
    return status;
}

hbf_status HeldFault::free(hbf_region region, hbf_error *e) {
    release_all();
    return below_->free(region, e);
}

void HeldFault::destroy() {
    release_all();
    below_->destroy();
}

// What no plugin can refuse: good handles, ranges inside their regions, nothing that waits.
bool HeldFault::harmless(const hbf_batch &batch) const {
    const auto inside = [&](hbf_region handle, uint64_t offset, uint64_t size) {
        const auto region = device().regions().find(handle);
        return region && size > 0 && offset <= region->size && size <= region->size - offset;
    };
    for (uint64_t i = 0; i < batch.command_count; ++i) {
        const hbf_command &command = command_at(batch, i);
        const hbf_copy &copy = command.u.copy;
        const hbf_fill &fill = command.u.fill;
        const hbf_range &range = command.u.range;
        bool good = command.flags == 0 && may_hold(command);
        if (command.kind == HBF_COMMAND_COPY) {
            good = good && copy.dst != copy.src && inside(copy.dst, copy.dst_offset, copy.size) &&
                   inside(copy.src, copy.src_offset, copy.size);
        } else if (command.kind == HBF_COMMAND_FILL) {
            good = good && inside(fill.dst, fill.dst_offset, fill.size) && std::has_single_bit(fill.pattern_size) &&
                   fill.pattern_size <= 8;
        } else if (command.kind == HBF_COMMAND_LAUNCH) {
            good = good && inject::harmless(device(), command.u.launch);
        } else {
            good = good && inside(range.region, range.offset, range.size);
        }
        if (!good) return false;
    }
    return batch.command_count > 0;
}

hbf_status HeldFault::submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) {
    const bool known = readable(queue, batch);
    // What this batch waits for has to be on its way.
    if (known)
        for (uint64_t i = 0; i < batch->command_count; ++i) {
            const hbf_command &command = command_at(*batch, i);
            if (command.kind != HBF_COMMAND_WAIT || !command.u.wait.queue) continue;
            if (Queue *waited = device().live_queue(command.u.wait.queue); waited && waited != &queue) release(*waited);
        }
    State &state = this->state(queue);
    std::lock_guard lock(state.mutex);
    if (state.holds) return next(queue, state, batch, out_value, e);
    if (known && out_value && harmless(*batch) && holds_back(state)) {
        copy_commands(*batch, state.held);
        state.launches.own_all(state.held);
        state.holds = true;
        *out_value = state.told = ++state.last;
        held(state);
        return HBF_OK;
    }
    const hbf_status status = below_->submit(queue, batch, out_value, e);
    if (status == HBF_OK && out_value) state.last = *out_value;
    return status;
}

hbf_status HeldFault::next(Queue &queue, State &state, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) {
    release_locked(queue, state);
    const hbf_status status = below_->submit(queue, batch, out_value, e);
    if (status == HBF_OK && out_value) state.last = *out_value;
    return status;
}

void HeldFault::release_locked(Queue &queue, State &state) {
    if (!state.holds) return;
    state.holds = false;
    let_go(state);
    const hbf_batch batch = batch_of(state.held);
    uint64_t value = 0;
    hbf_status status = below_->submit(queue, &batch, &value, nullptr);
    for (uint64_t done = 1; status == HBF_EXHAUSTED && done < state.last; ++done) { // a full queue: room comes
        below_->wait(queue, done, patience_ns, nullptr);
        status = below_->submit(queue, &batch, &value, nullptr);
    }
    const hbf_batch empty{sizeof empty, sizeof(hbf_command), nullptr, 0}; // so that the values go on as they were told
    if (status != HBF_OK) below_->submit(queue, &empty, &value, nullptr);
    state.launches.clear();
}

void HeldFault::release(Queue &queue) {
    State &state = this->state(queue);
    std::lock_guard lock(state.mutex);
    release_locked(queue, state);
}

void HeldFault::release_all() {
    std::lock_guard lock(queues_mutex_);
    for (Queue *queue : queues_) release(*queue);
}

} // namespace hbf::inject
