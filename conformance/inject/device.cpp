// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/device.hpp"

#include <algorithm>
#include <cstring>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/touch.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

using sdk::shell::refuse;

template <class T>
const T *extension(const hbf_plugin &plugin, hbf_instance *instance, std::string_view id) {
    return static_cast<const T *>(plugin.get_extension(instance, {id.data(), id.size()}));
}

// As much of the plugin's table as the wrapper knows.
template <class T>
bool copy_table(T &to, const T *from) {
    if (!from) return false;
    std::memcpy(&to, from, std::min<size_t>(from->struct_size, sizeof to));
    to.struct_size = std::min<uint32_t>(from->struct_size, sizeof to);
    return true;
}

} // namespace

Device::Device(const hbf_plugin &plugin, bool watched)
    : plugin_(plugin), watched_(watched), touch_(std::make_unique<Touch>(*this)) {}

Device::~Device() {
    touch_.reset();
    if (instance_) plugin_.destroy(instance_);
}

hbf_status Device::probe(const hbf_probe_in *in, hbf_probe_out *out, hbf_error *e) {
    return plugin_.probe(in, out, e);
}

hbf_status Device::create(const hbf_create_in *in, hbf_error *e) {
    const hbf_status status = plugin_.create(in, &instance_, e);
    if (status != HBF_OK || !instance_) return status;
    services_ = in->services;
    tier_ = extension<hbf_tier_ext>(plugin_, instance_, HBF_EXT_TIER);
    queue_ = extension<hbf_queue_ext>(plugin_, instance_, HBF_EXT_QUEUE);
    coherence_ = extension<hbf_coherence_ext>(plugin_, instance_, HBF_EXT_COHERENCE);
    kernels_ = extension<hbf_kernels_ext>(plugin_, instance_, HBF_EXT_KERNELS);
    health_ = extension<hbf_health_ext>(plugin_, instance_, HBF_EXT_HEALTH);
    look_around();
    return HBF_OK;
}

// What the wrapper itself has to know. A plugin that does not say is not helped here: the host will find out.
void Device::look_around() {
    hbf_queue_info info{};
    info.struct_size = sizeof info;
    if (usable(queue_, HBF_QUEUE_EXT_MIN_SIZE) && queue_->info(instance_, &info, nullptr) == HBF_OK)
        max_commands_ = info.max_commands;
    if (!watched_) return;
    if (usable(coherence_, HBF_COHERENCE_EXT_MIN_SIZE)) {
        for (uint32_t i = 0; i < coherence_->domain_count; ++i) {
            hbf_domain_info domain{};
            domain.struct_size = sizeof domain;
            const bool known = coherence_->describe(instance_, i, &domain, nullptr) == HBF_OK;
            software_domains_.push_back(known && domain.protocol == HBF_PROTOCOL_SOFTWARE);
        }
    }
    if (!usable(tier_, HBF_TIER_EXT_MIN_SIZE)) return;
    for (uint32_t i = 0; i < tier_->tier_count; ++i) {
        hbf_tier_info tier{};
        tier.struct_size = sizeof tier;
        tier.coherence_domain = HBF_DOMAIN_NONE;
        tier_->describe(instance_, i, &tier, nullptr);
        tiers_.push_back(tier);
    }
}

bool Device::software(uint32_t tier) const {
    const uint32_t domain = tier < tiers_.size() ? tiers_[tier].coherence_domain : HBF_DOMAIN_NONE;
    return domain < software_domains_.size() && software_domains_[domain];
}

void Device::destroy() {
    touch_->end();
    plugin_.destroy(instance_);
    instance_ = nullptr;
}

void Device::shape(Tables &tables) {
    tables.has_tier = copy_table(tables.tier, tier_);
    tables.has_queue = copy_table(tables.queue, queue_);
    tables.has_coherence = copy_table(tables.coherence, coherence_);
    tables.has_kernels = copy_table(tables.kernels, kernels_);
    tables.has_health = copy_table(tables.health, health_);
}

hbf_status Device::describe_tier(uint32_t tier, hbf_tier_info *out, hbf_error *e) {
    return tier_->describe(instance_, tier, out, e);
}

hbf_status Device::note(hbf_status status, hbf_region_info *out, hbf_error *e) {
    if (!watched_ || status != HBF_OK || !usable(out, HBF_REGION_INFO_MIN_SIZE)) return status;
    try {
        regions_.add(*out);
    } catch (...) { // as the device's own lack of memory, which faults may make worse
        (void)tier_->free(instance_, out->region, nullptr);
        out->region = 0;
        return sdk::shell::caught(e);
    }
    return status;
}

hbf_status Device::alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) {
    return note(tier_->alloc(instance_, desc, out, e), out, e);
}

hbf_status Device::free(hbf_region region, hbf_error *e) {
    if (!watched_) return tier_->free(instance_, region, e);
    auto known = regions_.take(region);
    const hbf_status status = tier_->free(instance_, region, e);
    if (known && status != HBF_OK) regions_.put_back(std::move(known));
    return status;
}

hbf_status Device::register_host(void *address, uint64_t size, hbf_region_info *out, hbf_error *e) {
    if (!tier_->register_host) return refuse(e, HBF_UNSUPPORTED, "the plugin has no register_host");
    return note(tier_->register_host(instance_, address, size, out, e), out, e);
}

hbf_status Device::export_region(hbf_region region, void *handle, uint64_t *size, hbf_error *e) {
    if (!tier_->export_region) return refuse(e, HBF_UNSUPPORTED, "the plugin has no export_region");
    return tier_->export_region(instance_, region, handle, size, e);
}

hbf_status Device::import_region(const void *handle, uint64_t size, hbf_region_info *out, hbf_error *e) {
    if (!tier_->import_region) return refuse(e, HBF_UNSUPPORTED, "the plugin has no import_region");
    return note(tier_->import_region(instance_, handle, size, out, e), out, e);
}

hbf_status Device::queue_info(hbf_queue_info *out, hbf_error *e) {
    return queue_->info(instance_, out, e);
}

hbf_status Device::create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) {
    {
        std::lock_guard lock(queues_mutex_);
        queues_.reserve(queues_.size() + 1);
    }
    const hbf_status status = queue_->create(instance_, desc, &queue.real, e);
    if (status != HBF_OK || !queue.real) return status;
    const uint32_t asked = usable(desc, HBF_QUEUE_DESC_MIN_SIZE) ? desc->commands : 0;
    queue.most_commands = asked ? asked : max_commands_ ? max_commands_ : UINT16_MAX;
    std::lock_guard lock(queues_mutex_);
    queues_.push_back(&queue);
    return HBF_OK;
}

hbf_status Device::destroy_queue(Queue &queue, hbf_error *e) {
    const hbf_status status = queue_->destroy(queue.real, e);
    if (status == HBF_OK) forget(queue);
    return status;
}

void Device::forget(Queue &queue) {
    std::lock_guard lock(queues_mutex_);
    std::erase(queues_, &queue);
}

Queue *Device::live_queue(hbf_queue *handle) {
    std::lock_guard lock(queues_mutex_);
    const auto found = std::find(queues_.begin(), queues_.end(), Queue::of(handle));
    return found == queues_.end() ? nullptr : *found;
}

hbf_status Device::submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) {
    bool waits = false;
    if (readable(queue, batch))
        for (uint64_t i = 0; i < batch->command_count && !waits; ++i) {
            const hbf_command &command = command_at(*batch, i);
            waits = command.kind == HBF_COMMAND_WAIT && command.u.wait.queue;
        }
    if (!waits) return queue_->submit(queue.real, batch, out_value, e);
    copy_commands(*batch, queue.scratch); // a pointer to no queue stays as it is: for the plugin to refuse
    for (hbf_command &command : queue.scratch)
        if (command.kind == HBF_COMMAND_WAIT && command.u.wait.queue)
            if (const Queue *waited = live_queue(command.u.wait.queue)) command.u.wait.queue = waited->real;
    const hbf_batch rewritten = batch_of(queue.scratch);
    return queue_->submit(queue.real, &rewritten, out_value, e);
}

hbf_status Device::poll(Queue &queue, hbf_progress *out) {
    return queue_->poll(queue.real, out);
}

hbf_status Device::wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) {
    return queue_->wait(queue.real, value, timeout_ns, e);
}

hbf_status Device::cancel(Queue &queue, uint64_t value, hbf_error *e) {
    if (!queue_->cancel) return refuse(e, HBF_UNSUPPORTED, "the plugin cannot cancel");
    return queue_->cancel(queue.real, value, e);
}

hbf_status Device::failure(Queue &queue, hbf_error *e) {
    return queue_->failure(queue.real, e);
}

hbf_status Device::describe_domain(uint32_t domain, hbf_domain_info *out, hbf_error *e) {
    if (!coherence_) return refuse(e, HBF_UNSUPPORTED, "the plugin has no domains");
    return coherence_->describe(instance_, domain, out, e);
}

hbf_status Device::find_kernel(hbf_string name, hbf_kernel_info *out, hbf_error *e) {
    if (!kernels_) return refuse(e, HBF_UNSUPPORTED, "the plugin has no kernels");
    const hbf_status status = kernels_->find(instance_, name, out, e);
    if (watched_ && status == HBF_OK && usable(out, HBF_KERNEL_INFO_MIN_SIZE)) kernel_book_.add(*out);
    return status;
}

hbf_status Device::kernel_name(uint32_t index, hbf_string *out, hbf_error *e) {
    if (!kernels_) return refuse(e, HBF_UNSUPPORTED, "the plugin has no kernels");
    return kernels_->name(instance_, index, out, e);
}

hbf_status Device::read_health(hbf_reading *readings, uint64_t stride, uint32_t capacity, uint32_t *count, hbf_error *e) {
    if (!health_) return refuse(e, HBF_UNSUPPORTED, "the plugin has no health");
    return health_->read(instance_, readings, stride, capacity, count, e);
}

} // namespace hbf::inject
