// SPDX-License-Identifier: Apache-2.0
// The plugin as seen from above: one virtual function per function of the ABI. The lowest layer calls the real plugin, each
// fault is a layer on top that changes what it is about and passes on the rest, and the host's calls enter at the top.
//
// What arrives is the host's own pointer, unchecked: a layer looks inside only after usable() said that it may.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hbf/abi.h"

namespace hbf::inject {

class Instance;
class Layer;

// What a layer remembers about a queue.
struct QueueState {
    QueueState() = default;
    virtual ~QueueState() = default;
    QueueState(const QueueState &) = delete;
    QueueState &operator=(const QueueState &) = delete;
};

// The host's hbf_queue.
struct Queue {
    Instance *owner = nullptr;
    Layer *top = nullptr; // of the owner
    hbf_queue *real = nullptr;
    uint64_t most_commands = 0;                      // in a batch: more are refused by the plugin, unread
    std::vector<std::unique_ptr<QueueState>> states; // by layer
    std::vector<hbf_command> scratch;                // of submit, in the lowest layer

    hbf_queue *handle() { return reinterpret_cast<hbf_queue *>(this); }
    static Queue *of(hbf_queue *queue) { return reinterpret_cast<Queue *>(queue); }
};

// What the host gets as tables. A layer may take functions out, or the extension with its `has_` flag.
struct Tables {
    hbf_tier_ext tier{};
    hbf_queue_ext queue{};
    hbf_coherence_ext coherence{};
    hbf_kernels_ext kernels{};
    hbf_health_ext health{};
    bool has_tier = false, has_queue = false, has_coherence = false, has_kernels = false, has_health = false;
};

class Layer {
public:
    Layer() = default;
    virtual ~Layer() = default;
    Layer(const Layer &) = delete;
    Layer &operator=(const Layer &) = delete;

    // Base table. `in` has lost the wrapper's own options. create leaves the instance in the lowest layer.
    virtual hbf_status probe(const hbf_probe_in *in, hbf_probe_out *out, hbf_error *e) { return below_->probe(in, out, e); }
    virtual hbf_status create(const hbf_create_in *in, hbf_error *e) { return below_->create(in, e); }
    virtual void destroy() { below_->destroy(); }
    virtual void shape(Tables &tables) { below_->shape(tables); }

    // Tier
    virtual hbf_status describe_tier(uint32_t tier, hbf_tier_info *out, hbf_error *e) {
        return below_->describe_tier(tier, out, e);
    }
    virtual hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) {
        return below_->alloc(desc, out, e);
    }
    virtual hbf_status free(hbf_region region, hbf_error *e) { return below_->free(region, e); }
    virtual hbf_status register_host(void *address, uint64_t size, hbf_region_info *out, hbf_error *e) {
        return below_->register_host(address, size, out, e);
    }
    virtual hbf_status export_region(hbf_region region, void *handle, uint64_t *size, hbf_error *e) {
        return below_->export_region(region, handle, size, e);
    }
    virtual hbf_status import_region(const void *handle, uint64_t size, hbf_region_info *out, hbf_error *e) {
        return below_->import_region(handle, size, out, e);
    }

    // Queue
    virtual hbf_status queue_info(hbf_queue_info *out, hbf_error *e) { return below_->queue_info(out, e); }
    virtual hbf_status create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) {
        return below_->create_queue(desc, queue, e);
    }
    virtual hbf_status destroy_queue(Queue &queue, hbf_error *e) { return below_->destroy_queue(queue, e); }
    virtual hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) {
        return below_->submit(queue, batch, out_value, e);
    }
    virtual hbf_status poll(Queue &queue, hbf_progress *out) { return below_->poll(queue, out); }
    virtual hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) {
        return below_->wait(queue, value, timeout_ns, e);
    }
    virtual hbf_status cancel(Queue &queue, uint64_t value, hbf_error *e) { return below_->cancel(queue, value, e); }
    virtual hbf_status failure(Queue &queue, hbf_error *e) { return below_->failure(queue, e); }

    // Coherence, kernels, health
    virtual hbf_status describe_domain(uint32_t domain, hbf_domain_info *out, hbf_error *e) {
        return below_->describe_domain(domain, out, e);
    }
    virtual hbf_status find_kernel(hbf_string name, hbf_kernel_info *out, hbf_error *e) {
        return below_->find_kernel(name, out, e);
    }
    virtual hbf_status kernel_name(uint32_t index, hbf_string *out, hbf_error *e) {
        return below_->kernel_name(index, out, e);
    }
    virtual hbf_status read_health(hbf_reading *readings, uint64_t stride, uint32_t capacity, uint32_t *count,
                                   hbf_error *e) {
        return below_->read_health(readings, stride, capacity, count, e);
    }

    // What this layer wants to remember about a new queue; nullptr: nothing.
    virtual std::unique_ptr<QueueState> remember_queue() { return nullptr; }

    void put_on(Layer &below, unsigned index) { below_ = &below, index_ = index; }

protected:
    template <class State>
    State &state_of(Queue &queue) const { // that remember_queue made
        return static_cast<State &>(*queue.states[index_]);
    }

    Layer *below_ = nullptr;
    unsigned index_ = 0; // in Queue::states
};

} // namespace hbf::inject
