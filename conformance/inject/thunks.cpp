// SPDX-License-Identifier: Apache-2.0
// The functions in the tables: from the C handle to the top layer.
//
// None is noexcept, though the tables say that theirs are: an exception that a fault throws on purpose has to come out.
#include <exception>
#include <type_traits>

#include "conformance/inject/wrapper.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

using sdk::shell::caught;
using sdk::shell::refuse;

template <class Body>
hbf_status guarded(hbf_error *error, Body &&body) {
    try {
        return body();
    } catch (const Crossing &) {
        throw;
    } catch (...) {
        return caught(error);
    }
}

hbf_status no_instance(hbf_error *error) {
    return refuse(error, HBF_INVALID, "instance is NULL");
}
hbf_status no_queue(hbf_error *error) {
    return refuse(error, HBF_INVALID, "queue is NULL");
}

// A function that takes an instance.
template <auto Member, class... A>
hbf_status on_instance(hbf_instance *instance, A... arguments, hbf_error *error) {
    if (!instance) return no_instance(error);
    return guarded(error, [&] { return (Instance::of(instance)->top().*Member)(arguments..., error); });
}

hbf_status kernel_find(hbf_instance *instance, hbf_string name, hbf_kernel_info *out, hbf_error *error) {
    if (!instance) return no_instance(error);
    return guarded(error, [&] { return Instance::of(instance)->top().find_kernel(name, out, error); });
}

hbf_status kernel_name(hbf_instance *instance, uint32_t index, hbf_string *out, hbf_error *error) {
    if (!instance) return no_instance(error);
    return guarded(error, [&] { return Instance::of(instance)->top().kernel_name(index, out, error); });
}

hbf_status health_read(hbf_instance *instance, hbf_reading *readings, uint64_t stride, uint32_t capacity, uint32_t *count,
                       hbf_error *error) {
    if (!instance) {
        if (count) *count = 0;
        return no_instance(error);
    }
    return guarded(error,
                   [&] { return Instance::of(instance)->top().read_health(readings, stride, capacity, count, error); });
}

hbf_status queue_create(hbf_instance *instance, const hbf_queue_desc *desc, hbf_queue **out, hbf_error *error) {
    if (!out) return refuse(error, HBF_INVALID, "create queue: out is NULL");
    *out = nullptr;
    if (!instance) return no_instance(error);
    return guarded(error, [&] { return Instance::of(instance)->create_queue(desc, out, error); });
}

hbf_status queue_destroy(hbf_queue *queue, hbf_error *error) {
    if (!queue) return HBF_OK;
    return guarded(error, [&] { return Queue::of(queue)->owner->destroy_queue(*Queue::of(queue), error); });
}

hbf_status queue_submit(hbf_queue *queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *error) {
    if (!queue) {
        if (out_value) *out_value = 0;
        return no_queue(error);
    }
    return guarded(error, [&] { return Queue::of(queue)->top->submit(*Queue::of(queue), batch, out_value, error); });
}

hbf_status queue_poll(hbf_queue *queue, hbf_progress *out) {
    if (!queue) return HBF_INVALID;
    return guarded(nullptr, [&] { return Queue::of(queue)->top->poll(*Queue::of(queue), out); });
}

hbf_status queue_wait(hbf_queue *queue, uint64_t value, uint64_t timeout_ns, hbf_error *error) {
    if (!queue) return no_queue(error);
    return guarded(error, [&] { return Queue::of(queue)->top->wait(*Queue::of(queue), value, timeout_ns, error); });
}

hbf_status queue_cancel(hbf_queue *queue, uint64_t value, hbf_error *error) {
    if (!queue) return no_queue(error);
    return guarded(error, [&] { return Queue::of(queue)->top->cancel(*Queue::of(queue), value, error); });
}

hbf_status queue_failure(hbf_queue *queue, hbf_error *error) {
    if (!queue) return no_queue(error);
    return guarded(error, [&] { return Queue::of(queue)->top->failure(*Queue::of(queue), error); });
}

// Wherever the plugin's table has a function.
template <class Noexcept, class Own>
void replace(Noexcept &slot, Own own) {
    if (slot) slot = reinterpret_cast<Noexcept>(own);
}

} // namespace

void use_own_functions(Tables &t) {
    replace(t.tier.describe, &on_instance<&Layer::describe_tier, uint32_t, hbf_tier_info *>);
    replace(t.tier.alloc, &on_instance<&Layer::alloc, const hbf_alloc_desc *, hbf_region_info *>);
    replace(t.tier.free, &on_instance<&Layer::free, hbf_region>);
    replace(t.tier.register_host, &on_instance<&Layer::register_host, void *, uint64_t, hbf_region_info *>);
    replace(t.tier.export_region, &on_instance<&Layer::export_region, hbf_region, void *, uint64_t *>);
    replace(t.tier.import_region, &on_instance<&Layer::import_region, const void *, uint64_t, hbf_region_info *>);
    replace(t.queue.info, &on_instance<&Layer::queue_info, hbf_queue_info *>);
    replace(t.queue.create, &queue_create);
    replace(t.queue.destroy, &queue_destroy);
    replace(t.queue.submit, &queue_submit);
    replace(t.queue.poll, &queue_poll);
    replace(t.queue.wait, &queue_wait);
    replace(t.queue.cancel, &queue_cancel);
    replace(t.queue.failure, &queue_failure);
    replace(t.coherence.describe, &on_instance<&Layer::describe_domain, uint32_t, hbf_domain_info *>);
    replace(t.kernels.find, &kernel_find);
    replace(t.kernels.name, &kernel_name);
    replace(t.health.read, &health_read);
}

} // namespace hbf::inject
