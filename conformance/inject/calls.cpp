// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/calls.hpp"

#include <algorithm>

namespace hbf::inject {
namespace {

template <class Out, class In = hbf_error>
CallResult of(CallName name, hbf_error *e, Out *out, const In *in = nullptr) {
    CallResult call;
    call.name = name;
    call.error = e;
    call.out = out;
    call.known_size = sizeof(Out);
    call.in = in;
    call.in_known_size = sizeof(In);
    return call;
}

CallResult of(CallName name, hbf_error *e) {
    CallResult call;
    call.name = name;
    call.error = e;
    return call;
}

uint64_t *region_of(hbf_region_info *out) {
    return usable(out, HBF_REGION_INFO_MIN_SIZE) ? &out->region : nullptr;
}

CallResult with(CallResult call, uint64_t *handle) {
    call.handle = handle;
    return call;
}

} // namespace

CallFault::CallFault(const Settings &settings) : Fault(settings) {
    const auto &choices = parameter::call.choices;
    const auto found = std::find(choices.begin(), choices.end(), settings.text("call"));
    only_ = static_cast<CallName>(found - choices.begin());
}

template <class Body>
hbf_status CallFault::around(CallResult call, Body &&body) {
    if (only_ != CallName::any && call.name != only_) return body();
    call.status = before(call);
    if (call.status != HBF_OK) return call.status;
    call.status = body();
    after(call);
    return call.status;
}

hbf_status CallFault::probe(const hbf_probe_in *in, hbf_probe_out *out, hbf_error *e) {
    CallResult call = of(CallName::probe, e, out, in);
    call.in = host_struct();
    return around(call, [&] { return below_->probe(in, out, e); });
}

hbf_status CallFault::create(const hbf_create_in *in, hbf_error *e) {
    CallResult call = of(CallName::create, e);
    call.in = host_struct();
    call.in_known_size = sizeof *in;
    return around(call, [&] { return below_->create(in, e); });
}

hbf_status CallFault::describe_tier(uint32_t tier, hbf_tier_info *out, hbf_error *e) {
    return around(of(CallName::describe, e, out), [&] { return below_->describe_tier(tier, out, e); });
}

hbf_status CallFault::alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) {
    return around(with(of(CallName::alloc, e, out, desc), region_of(out)), [&] { return below_->alloc(desc, out, e); });
}

hbf_status CallFault::free(hbf_region region, hbf_error *e) {
    return around(of(CallName::free, e), [&] { return below_->free(region, e); });
}

hbf_status CallFault::register_host(void *address, uint64_t size, hbf_region_info *out, hbf_error *e) {
    return around(with(of(CallName::import, e, out), region_of(out)),
                  [&] { return below_->register_host(address, size, out, e); });
}

hbf_status CallFault::import_region(const void *handle, uint64_t size, hbf_region_info *out, hbf_error *e) {
    return around(with(of(CallName::import, e, out), region_of(out)),
                  [&] { return below_->import_region(handle, size, out, e); });
}

hbf_status CallFault::queue_info(hbf_queue_info *out, hbf_error *e) {
    return around(of(CallName::info, e, out), [&] { return below_->queue_info(out, e); });
}

hbf_status CallFault::create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) {
    CallResult call = of(CallName::queue, e);
    call.in = desc;
    call.in_known_size = sizeof *desc;
    return around(call, [&] { return below_->create_queue(desc, queue, e); });
}

hbf_status CallFault::destroy_queue(Queue &queue, hbf_error *e) {
    return around(of(CallName::queue, e), [&] { return below_->destroy_queue(queue, e); });
}

hbf_status CallFault::submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) {
    CallResult call = with(of(CallName::submit, e), out_value);
    call.in = batch;
    call.in_known_size = sizeof *batch;
    return around(call, [&] { return below_->submit(queue, batch, out_value, e); });
}

hbf_status CallFault::poll(Queue &queue, hbf_progress *out) {
    return around(of(CallName::poll, nullptr, out), [&] { return below_->poll(queue, out); });
}

hbf_status CallFault::wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) {
    return around(of(CallName::wait, e), [&] { return below_->wait(queue, value, timeout_ns, e); });
}

hbf_status CallFault::cancel(Queue &queue, uint64_t value, hbf_error *e) {
    return around(of(CallName::cancel, e), [&] { return below_->cancel(queue, value, e); });
}

hbf_status CallFault::failure(Queue &queue, hbf_error *e) {
    return around(of(CallName::failure, e), [&] { return below_->failure(queue, e); });
}

hbf_status CallFault::describe_domain(uint32_t domain, hbf_domain_info *out, hbf_error *e) {
    return around(of(CallName::describe, e, out), [&] { return below_->describe_domain(domain, out, e); });
}

hbf_status CallFault::find_kernel(hbf_string name, hbf_kernel_info *out, hbf_error *e) {
    uint64_t *kernel = usable(out, HBF_KERNEL_INFO_MIN_SIZE) ? &out->kernel : nullptr;
    return around(with(of(CallName::find, e, out), kernel), [&] { return below_->find_kernel(name, out, e); });
}

hbf_status CallFault::read_health(hbf_reading *readings, uint64_t stride, uint32_t capacity, uint32_t *count, hbf_error *e) {
    // The last element stands for the array: what lies beyond it lies beyond the array.
    hbf_reading *last =
        readings && capacity > 0
            ? reinterpret_cast<hbf_reading *>(reinterpret_cast<std::byte *>(readings) + (capacity - 1) * stride)
            : nullptr;
    return around(of(CallName::read, e, last), [&] { return below_->read_health(readings, stride, capacity, count, e); });
}

} // namespace hbf::inject
