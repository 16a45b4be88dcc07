// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/device.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "conformance/suite/context.hpp"
#include "conformance/suite/subject.hpp"

namespace hbf::conformance {
namespace {

hbf_string abi(std::string_view text) {
    return {text.data(), text.size()};
}

template <class Table>
const Table *table(const void *extension, uint32_t least, std::string_view id) {
    const auto *out = static_cast<const Table *>(extension);
    if (out && out->struct_size < least)
        fail(fmt::format("the table of {} is {} bytes, less than {}", id, out->struct_size, least));
    return out;
}

bool find_tier(const std::vector<hbf_tier_info> &tiers, auto &&fits, uint32_t &out) {
    const auto found = std::find_if(tiers.begin(), tiers.end(), fits);
    if (found == tiers.end()) return false;
    out = static_cast<uint32_t>(found - tiers.begin());
    return true;
}

// A case that asks for a sort of tier without need:: of it is wrong itself.
uint32_t found_tier(const std::vector<hbf_tier_info> &tiers, auto &&fits, const char *what) {
    uint32_t out = 0;
    if (!find_tier(tiers, fits, out)) throw std::logic_error(fmt::format("no tier {}, and the case declares no need", what));
    return out;
}

constexpr uint32_t cpu_and_dma = HBF_ACCESS_CPU | HBF_ACCESS_DMA;

bool is_cpu_tier(const hbf_tier_info &tier) {
    return (tier.access & cpu_and_dma) == cpu_and_dma;
}
bool is_dma_only(const hbf_tier_info &tier) {
    return (tier.access & cpu_and_dma) == HBF_ACCESS_DMA;
}
bool is_persistent(const hbf_tier_info &tier) {
    return (tier.access & HBF_ACCESS_DMA) && (tier.flags & HBF_TIER_FLAG_PERSISTENT);
}

} // namespace

Instance::Instance(const Subject &subject, hbf_instance *handle) : subject_(&subject), handle_(handle) {
    try {
        tier_ = table<hbf_tier_ext>(extension(HBF_EXT_TIER), HBF_TIER_EXT_MIN_SIZE, HBF_EXT_TIER);
        queue_ = table<hbf_queue_ext>(extension(HBF_EXT_QUEUE), HBF_QUEUE_EXT_MIN_SIZE, HBF_EXT_QUEUE);
        if (!tier_ || !queue_) fail("hbf.tier/1 and hbf.queue/1 are needed for a plugin to be of use; one is NULL");
        const uint32_t mask = subject.options().mask;
        if (!(mask & need::coherence))
            coherence_ =
                table<hbf_coherence_ext>(extension(HBF_EXT_COHERENCE), HBF_COHERENCE_EXT_MIN_SIZE, HBF_EXT_COHERENCE);
        if (!(mask & need::launch))
            kernels_ = table<hbf_kernels_ext>(extension(HBF_EXT_KERNELS), HBF_KERNELS_EXT_MIN_SIZE, HBF_EXT_KERNELS);
        if (!(mask & need::health))
            health_ = table<hbf_health_ext>(extension(HBF_EXT_HEALTH), HBF_HEALTH_EXT_MIN_SIZE, HBF_EXT_HEALTH);

        for (uint32_t i = 0; i < tier_->tier_count; ++i) tiers_.push_back(describe(i));
        queue_info_.struct_size = sizeof queue_info_;
        ErrorBuffer error;
        must(error.call(queue_->info(handle_, &queue_info_, error)), "hbf.queue/1 info");
        if (mask & need::cancel) queue_info_.capabilities &= ~HBF_QUEUE_CAP_CANCEL;
        if (mask & need::crc) queue_info_.capabilities &= ~HBF_QUEUE_CAP_CRC32C;
        if (mask & need::launch) queue_info_.capabilities &= ~HBF_QUEUE_CAP_LAUNCH;
        for (uint32_t i = 0; coherence_ && i < coherence_->domain_count; ++i) {
            hbf_domain_info domain{};
            domain.struct_size = sizeof domain;
            ErrorBuffer why;
            must(why.call(coherence_->describe(handle_, i, &domain, why)), "hbf.coherence/1 describe {}", i);
            domains_.push_back(domain);
        }

        uint32_t any = 0;
        const auto declare = [&](bool declared, uint32_t bit) { capabilities_ |= declared ? bit : 0u; };
        declare(find_tier(tiers_, is_cpu_tier, any), need::cpu_tier);
        declare(find_tier(tiers_, is_dma_only, any), need::dma_only_tier);
        declare(dma_tiers().size() >= 2, need::two_tiers);
        declare(find_tier(tiers_, is_persistent, any), need::persistent);
        declare(queue_info_.capabilities & HBF_QUEUE_CAP_CANCEL, need::cancel);
        declare(queue_info_.capabilities & HBF_QUEUE_CAP_CRC32C, need::crc);
        declare((queue_info_.capabilities & HBF_QUEUE_CAP_LAUNCH) && kernels_, need::launch);
        declare(queue_info_.visibility & HBF_VISIBLE_THIRD_PARTY, need::third_party);
        declare(coherence_, need::coherence);
        declare(health_, need::health);
        declare(tier_->register_host && !(mask & need::register_host), need::register_host);
        declare(tier_->export_region && tier_->import_region && !(mask & need::export_import), need::export_import);
        for (uint32_t i = 0; i < tiers_.size(); ++i) {
            const hbf_domain_info *domain = domain_of(i);
            if (!domain || !is_cpu_tier(tiers_[i])) continue;
            declare(domain->protocol == HBF_PROTOCOL_SOFTWARE, need::software_domain);
            declare(domain->protocol == HBF_PROTOCOL_HARDWARE, need::hardware_domain);
            declare(domain->atomic_widths & 8u, need::atomics);
        }
    } catch (...) {
        subject_->plugin().destroy(handle_);
        throw;
    }
}

Instance::~Instance() {
    if (handle_) subject_->plugin().destroy(handle_);
}

hbf_instance *Instance::release() {
    return std::exchange(handle_, nullptr);
}

const void *Instance::extension(std::string_view id) const {
    return subject_->plugin().get_extension(handle_, abi(id));
}

hbf_tier_info Instance::describe(uint32_t tier) const {
    hbf_tier_info info{};
    info.struct_size = sizeof info;
    ErrorBuffer error;
    must(error.call(tier_->describe(handle_, tier, &info, error)), "hbf.tier/1 describe {}", tier);
    info.name[sizeof info.name - 1] = '\0';
    info.detail[sizeof info.detail - 1] = '\0';
    return info;
}

const hbf_domain_info *Instance::domain_of(uint32_t tier) const {
    const uint32_t domain = tiers_.at(tier).coherence_domain;
    return domain < domains_.size() ? &domains_[domain] : nullptr;
}

uint32_t Instance::cpu_tier() const {
    return found_tier(tiers_, is_cpu_tier, "has both CPU and DMA access");
}
uint32_t Instance::dma_only_tier() const {
    return found_tier(tiers_, is_dma_only, "is reached by commands only");
}
uint32_t Instance::persistent_tier() const {
    return found_tier(tiers_, is_persistent, "keeps named regions");
}
uint32_t Instance::software_tier() const {
    for (uint32_t i = 0; i < tiers_.size(); ++i) {
        const hbf_domain_info *domain = domain_of(i);
        if (is_cpu_tier(tiers_[i]) && domain && domain->protocol == HBF_PROTOCOL_SOFTWARE) return i;
    }
    throw std::logic_error("no tier that the CPU reaches is in a software domain, and the case declares no need");
}
std::vector<uint32_t> Instance::dma_tiers() const {
    std::vector<uint32_t> out;
    for (uint32_t i = 0; i < tiers_.size(); ++i)
        if (tiers_[i].access & HBF_ACCESS_DMA) out.push_back(i);
    return out;
}

Call Instance::alloc(uint32_t tier, uint64_t size, hbf_region_info &out, uint64_t alignment, const std::string &name,
                     uint32_t flags, hbf_pages pages) const {
    hbf_alloc_desc desc{};
    desc.struct_size = sizeof desc;
    desc.tier = tier;
    desc.size = size;
    desc.alignment = alignment;
    desc.pages = pages;
    desc.flags = flags;
    desc.name = abi(name);
    out = {};
    out.struct_size = sizeof out;
    ErrorBuffer error;
    return error.call(tier_->alloc(handle_, &desc, &out, error));
}

hbf_region_info Instance::must_alloc(uint32_t tier, uint64_t size, uint64_t alignment) const {
    hbf_region_info out{};
    must(alloc(tier, size, out, alignment), "alloc of {} bytes in {}", size, tiers_.at(tier).name);
    if (!out.region || out.size < size || (cpu_access(tier) && !out.address))
        fail(fmt::format("alloc of {} bytes in {}: HBF_OK, but region {} of {} bytes{}", size, tiers_.at(tier).name,
                         out.region, out.size, out.address ? "" : " without an address"));
    return out;
}

Call Instance::free(hbf_region region) const {
    ErrorBuffer error;
    return error.call(tier_->free(handle_, region, error));
}

void Instance::must_free(hbf_region region) const {
    must(free(region), "free");
}

Call Instance::register_host(void *address, uint64_t size, hbf_region_info &out) const {
    out = {};
    out.struct_size = sizeof out;
    if (!tier_->register_host) return {HBF_UNSUPPORTED, "register_host is NULL"};
    ErrorBuffer error;
    return error.call(tier_->register_host(handle_, address, size, &out, error));
}

Call Instance::create_queue(hbf_queue *&out, uint32_t depth, uint32_t commands) const {
    hbf_queue_desc desc{};
    desc.struct_size = sizeof desc;
    desc.depth = depth;
    desc.commands = commands;
    out = nullptr;
    ErrorBuffer error;
    return error.call(queue_->create(handle_, &desc, &out, error));
}

hbf_queue *Instance::must_create_queue(uint32_t depth, uint32_t commands) const {
    hbf_queue *out = nullptr;
    must(create_queue(out, depth, commands), "queue create");
    return out;
}

Call Instance::destroy_queue(hbf_queue *queue) const {
    ErrorBuffer error;
    return error.call(queue_->destroy(queue, error));
}

void Instance::must_destroy_queue(hbf_queue *queue) const {
    must(destroy_queue(queue), "queue destroy");
}

Call Instance::submit(hbf_queue *queue, const std::vector<hbf_command> &commands, uint64_t &value) const {
    hbf_batch batch{};
    batch.struct_size = sizeof batch;
    batch.command_stride = sizeof(hbf_command);
    batch.commands = commands.empty() ? nullptr : commands.data();
    batch.command_count = commands.size();
    value = 0;
    ErrorBuffer error;
    return error.call(queue_->submit(queue, &batch, &value, error));
}

uint64_t Instance::must_submit(hbf_queue *queue, const std::vector<hbf_command> &commands) const {
    uint64_t value = 0;
    must(submit(queue, commands, value), "submit of {} commands", commands.size());
    return value;
}

hbf_progress Instance::poll(hbf_queue *queue) const {
    hbf_progress out{};
    out.struct_size = sizeof out;
    must(queue_->poll(queue, &out), "poll");
    return out;
}

Call Instance::wait(hbf_queue *queue, uint64_t value, uint64_t timeout_ns) const {
    ErrorBuffer error;
    return error.call(queue_->wait(queue, value, timeout_ns, error));
}

Call Instance::cancel(hbf_queue *queue, uint64_t value) const {
    if (!queue_->cancel) return {HBF_UNSUPPORTED, "cancel is NULL"};
    ErrorBuffer error;
    return error.call(queue_->cancel(queue, value, error));
}

Call Instance::failure(hbf_queue *queue) const {
    char text[1024] = {};
    hbf_error error{};
    error.struct_size = sizeof error;
    error.message = text;
    error.capacity = sizeof text;
    error.offset = HBF_NO_PLACE;
    Call out;
    out.status = queue_->failure(queue, &error); // the one call that writes *error on success
    out.message.assign(std::begin(text), std::find(std::begin(text), std::end(text), '\0'));
    out.region = error.region;
    out.offset = error.offset;
    return out;
}

void Instance::must_complete(hbf_queue *queue, uint64_t value) const {
    const Call call = wait(queue, value);
    const hbf_progress now = poll(queue);
    if (!call.ok()) {
        const bool late = call.status == HBF_TIMEOUT;
        Evidence evidence;
        evidence.fault_class = late ? fault::never_completes : fault::wrong_status;
        evidence.detail = late
                              ? fmt::format("value {} did not complete in ten seconds; {} values have", value, now.completed)
                              : fmt::format("wait for value {}: {}", value, to_string(call));
        const std::string reason = evidence.detail;
        fail(reason, std::move(evidence));
    }
    if (now.completed < value) {
        Evidence evidence;
        evidence.fault_class = fault::order;
        evidence.detail = fmt::format("wait says that value {} completed, poll that only {} did", value, now.completed);
        const std::string reason = evidence.detail;
        fail(reason, std::move(evidence));
    }
    if (now.failed && now.failed <= value) {
        const Status verdict = now.status == HBF_DEVICE_LOST ? Status::device_lost : Status::fail;
        throw Verdict{verdict,
                      fmt::format("value {} failed: {}: {}", now.failed, status_name(now.status), failure(queue).message)};
    }
}

void Instance::must_run(hbf_queue *queue, const std::vector<hbf_command> &commands) const {
    must_complete(queue, must_submit(queue, commands));
}

std::vector<hbf_reading> Instance::must_read_health() const {
    if (!health_) throw std::logic_error("the device declares no hbf.health/1, and the case no need");
    std::vector<hbf_reading> readings(64);
    for (;;) {
        for (hbf_reading &reading : readings) {
            reading = {};
            reading.struct_size = sizeof reading;
        }
        uint32_t count = 0;
        ErrorBuffer error;
        must(error.call(health_->read(handle_, readings.data(), sizeof(hbf_reading), static_cast<uint32_t>(readings.size()),
                                      &count, error)),
             "health read");
        const bool more = count > readings.size() && count <= 65536;
        readings.resize(more ? count : std::min<size_t>(count, readings.size()));
        if (!more) return readings;
    }
}

} // namespace hbf::conformance
