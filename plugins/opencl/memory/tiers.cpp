// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/memory/tiers.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "hbf/sdk/text.hpp"
#include "plugins/opencl/errors.hpp"

namespace hbf::opencl {
namespace {

constexpr uint64_t granule = 4096, widest_alignment = 2 << 20;

// What a tier takes unless an option says otherwise. OpenCL tells how much memory there is, not how much of it is free: on
// a device of its own nearly all; of the host's memory, which others need too, a part that leaves them theirs.
uint64_t share(const DeviceFacts &facts, uint64_t own, uint64_t unified, uint64_t cpu) {
    const uint64_t sixtyfourths = facts.cpu ? cpu : facts.unified ? unified : own;
    return std::max<uint64_t>(facts.memory / 64 * sixtyfourths / granule * granule, granule);
}

std::vector<Tier> tiers_of(const DeviceFacts &facts, const OpenClOptions &options) {
    const char *const whose = facts.cpu       ? "memory of this machine, used by its CPUs through OpenCL"
                              : facts.unified ? "memory that the device shares with this machine"
                                              : "the device's global memory";
    const hbf_media media = facts.cpu || facts.unified ? HBF_MEDIA_DRAM : HBF_MEDIA_UNKNOWN;
    const auto bytes = [](uint64_t wanted, uint64_t otherwise) { return wanted ? wanted : otherwise; };
    const bool shared = (facts.svm & CL_DEVICE_SVM_FINE_GRAIN_BUFFER) != 0;
    std::vector<Tier> tiers;
    tiers.push_back({Sort::device, "device0", HBF_TIER_HBM, media, HBF_DOMAIN_NONE, 1,
                     bytes(options.device_bytes, share(facts, 52, 24, 8)), granule, facts.alignment, facts.alignment,
                     fmt::format("buffers in {}; commands and kernels reach them, the CPU does not", whose)});
    tiers.push_back({Sort::mapped, "mapped0", HBF_TIER_HBF, facts.cpu ? HBF_MEDIA_DRAM : HBF_MEDIA_PINNED, mapped_domain,
                     HBF_TIER_NONE, bytes(options.mapped_bytes, share(facts, 4, 4, 2)), granule, facts.line,
                     widest_alignment,
                     fmt::format("buffers in {}, each with pinned memory beside it that the CPU sees: flush and invalidate "
                                 "carry bytes over",
                                 whose)});
    if (shared)
        tiers.push_back({Sort::svm, "svm0", HBF_TIER_HBF, media, shared_domain, HBF_TIER_NONE,
                         bytes(options.svm_bytes, share(facts, 4, 4, 2)), granule, facts.line, widest_alignment,
                         "fine-grained shared virtual memory: CPU and device use the same bytes"});
    else if (options.svm_bytes)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("option svm_bytes: {} has no fine-grained shared virtual memory", facts.name));
    return tiers;
}

std::byte *aligned(std::byte *at, uint64_t alignment) {
    const auto address = reinterpret_cast<uintptr_t>(at);
    return at + ((alignment - address % alignment) % alignment);
}

// A share of a tier, given back unless it is kept.
class Share {
public:
    Share(std::mutex &mutex, uint64_t &used, uint64_t bytes, const Tier &tier) : mutex_(mutex), used_(used), bytes_(bytes) {
        const std::lock_guard lock(mutex_);
        if (bytes > tier.capacity - used)
            sdk::fail(HBF_EXHAUSTED,
                      fmt::format("{}: {} bytes wanted, {} of {} are in use", tier.name, bytes, used, tier.capacity));
        used += bytes;
    }
    ~Share() {
        const std::lock_guard lock(mutex_);
        used_ -= bytes_;
    }
    Share(const Share &) = delete;
    Share &operator=(const Share &) = delete;
    void keep() { bytes_ = 0; }

private:
    std::mutex &mutex_;
    uint64_t &used_;
    uint64_t bytes_;
};

} // namespace

Tiers::Tiers(Context &context, const OpenClOptions &options)
    : context_(context), tiers_(tiers_of(context.facts, options)), used_(tiers_.size()) {}

void Tiers::describe(uint32_t index, hbf_tier_info &out) {
    const Tier &tier = tiers_[index];
    out.kind = tier.kind;
    out.media = tier.media;
    out.reality = HBF_REALITY_REAL;
    out.access = HBF_ACCESS_DEVICE | HBF_ACCESS_DMA | (tier.sort == Sort::device ? 0 : HBF_ACCESS_CPU);
    out.numa_node = -1;
    out.coherence_domain = tier.domain;
    out.extended_by = tier.extended_by;
    out.line_size = static_cast<uint32_t>(context_.facts.line);
    out.capacity = tier.capacity;
    {
        const std::lock_guard lock(mutex_);
        out.available = tier.capacity - used_[index];
    }
    out.granule = tier.granule;
    out.alignment = tier.alignment;
    out.copy_alignment = context_.facts.line;
    sdk::set_text(out.name, tier.name);
    sdk::set_text(out.detail, tier.detail);
}

void Tiers::describe_domain(uint32_t domain, hbf_domain_info &out) const {
    out.granule = context_.facts.line;
    out.agents = HBF_AGENT_CPU | HBF_AGENT_COPY_ENGINE | HBF_AGENT_DEVICE;
    if (domain == mapped_domain) {
        out.protocol = HBF_PROTOCOL_SOFTWARE;
        sdk::set_text(out.name, "mapped");
        sdk::set_text(out.detail, "the CPU has bytes of its own, carried by clEnqueueWriteBuffer and clEnqueueReadBuffer");
        return;
    }
    const uint64_t svm = context_.facts.svm;
    const bool wide = context_.facts.has("cl_khr_int64_base_atomics") && context_.facts.has("cl_khr_int64_extended_atomics");
    out.protocol = HBF_PROTOCOL_HARDWARE;
    out.atomic_widths = svm & CL_DEVICE_SVM_ATOMICS ? (wide ? 4 + 8 : 4) : 0;
    sdk::set_text(out.name, "svm");
    sdk::set_text(out.detail,
                  svm & CL_DEVICE_SVM_ATOMICS
                      ? "CL_DEVICE_SVM_CAPABILITIES: fine-grained buffers and atomics"
                      : "CL_DEVICE_SVM_CAPABILITIES: fine-grained buffers; a kernel's stores count when it ends");
}

std::unique_ptr<Region> Tiers::make(const sdk::AllocRequest &request) {
    const Tier &tier = tiers_[request.tier];
    if (!request.name.empty()) sdk::fail(HBF_UNSUPPORTED, fmt::format("{} keeps no named regions", tier.name));
    if (request.pages != HBF_PAGES_DEFAULT)
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("{}: OpenCL does not say what pages memory has: ask for the default", tier.name));
    if (request.alignment > tier.most_alignment)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("{}: alignment {} is over {}", tier.name, request.alignment, tier.most_alignment));
    if (request.size > tier.capacity)
        sdk::fail(HBF_EXHAUSTED, fmt::format("{} has {} bytes, {} are wanted", tier.name, tier.capacity, request.size));
    const uint64_t alignment = std::max(request.alignment, tier.alignment);
    const uint64_t bytes = (request.size + tier.granule - 1) / tier.granule * tier.granule;
    if (bytes > context_.facts.largest)
        sdk::fail(HBF_EXHAUSTED,
                  fmt::format("{}: {} bytes in one piece are over the device's limit of {} (CL_DEVICE_MAX_MEM_ALLOC_SIZE): "
                              "take several regions",
                              tier.name, request.size, context_.facts.largest));
    Share share(mutex_, used_[request.tier], bytes, tier);
    auto region = std::make_unique<Region>();
    region->sort = tier.sort;
    region->tier = request.tier;
    region->size = request.size;
    region->bytes = region->taken = bytes;
    fill(*region, tier, alignment);
    zero(*region);
    share.keep();
    return region;
}

void Tiers::fill(Region &region, const Tier &tier, uint64_t alignment) {
    const Functions &cl = context_.cl;
    cl_mem_flags flags = CL_MEM_READ_WRITE;
    void *under = nullptr;
    uint64_t bytes = region.bytes;
    // Runtimes align as they like, up to a type's size: a wider alignment is found inside of more.
    if (tier.sort == Sort::mapped) {
        region.pinned.emplace(context_, bytes + alignment);
        region.address = aligned(region.pinned->at(), alignment);
    } else if (tier.sort == Sort::svm) {
        region.svm.emplace(context_, bytes + alignment);
        region.address = aligned(region.svm->at(), alignment);
        region.base = static_cast<uint64_t>(region.address - region.svm->at());
        under = region.svm->at();
        bytes += alignment;
        flags |= CL_MEM_USE_HOST_PTR;
    }
    cl_int code = CL_SUCCESS;
    region.buffer.reset(cl.CreateBuffer(context_.context.get(), flags, bytes, under, &code));
    check(code, fmt::format("{}: clCreateBuffer of {} bytes", tier.name, bytes));
}

// No owner before sees its bytes here; and memory that a runtime takes at first use is taken, or found missing, now.
void Tiers::zero(Region &region) {
    const Functions &cl = context_.cl;
    if (region.address) std::memset(region.address, 0, region.bytes);
    if (region.sort == Sort::svm) return;
    constexpr uint64_t nothing = 0;
    const std::lock_guard lock(context_.aside_mutex);
    check(cl.EnqueueFillBuffer(context_.aside.get(), region.buffer.get(), &nothing, sizeof nothing, 0, region.bytes, 0,
                               nullptr, nullptr),
          "clEnqueueFillBuffer of a new region");
    check(cl.Finish(context_.aside.get()), "clFinish of a new region");
}

void Tiers::give_back(const Region &region) {
    if (region.tier == HBF_TIER_NONE) return;
    const std::lock_guard lock(mutex_);
    used_[region.tier] -= region.taken;
}

} // namespace hbf::opencl
