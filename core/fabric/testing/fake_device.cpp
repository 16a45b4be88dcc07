// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/testing/fake_device.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "core/fabric/testing/fake_kernels.hpp"
#include "core/fabric/testing/fake_queue.hpp"
#include "hbf/sdk/entry.hpp"

namespace hbf::testing {
namespace {

struct Devices {
    std::mutex mutex;
    std::map<std::string, std::unique_ptr<Script>> scripts;
};
Devices &devices() {
    static Devices all;
    return all;
}

constexpr uint64_t alias_bytes = 2 << 20;

std::byte *map_sparse(uint64_t size) {
    void *memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) sdk::fail(HBF_EXHAUSTED, "fake: no address space");
    return static_cast<std::byte *>(memory);
}

// Any number of bytes over the same 2 MiB: sizes over 4 GiB without the memory.
std::byte *map_alias(uint64_t size) {
    std::byte *memory = map_sparse(size);
    const int file = memfd_create("alias", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, alias_bytes) != 0) sdk::fail(HBF_EXHAUSTED, "fake: no memfd");
    for (uint64_t offset = 0; offset < size; offset += alias_bytes)
        if (mmap(memory + offset, std::min(alias_bytes, size - offset), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                 0) == MAP_FAILED)
            sdk::fail(HBF_EXHAUSTED, "fake: no alias");
    close(file);
    return memory;
}

void set(char *field, size_t size, const char *text) {
    std::snprintf(field, size, "%s", text);
}

class FakeInstance final : public sdk::Instance, private sdk::Coherence, private sdk::Kernels {
public:
    explicit FakeInstance(Script &script) : script_(script) { ++script_.live_instances; }
    ~FakeInstance() override {
        regions_.drain([this](FakeRegion &region) { unmap(region); });
        --script_.live_instances;
    }

    uint32_t tier_count() const override { return 5; }
    void describe_tier(uint32_t tier, hbf_tier_info &out) override {
        out.struct_size = sizeof(out);
        out.reality = script_.tier_reality;
        out.numa_node = -1;
        out.coherence_domain = out.extended_by = HBF_TIER_NONE;
        out.granule = 4096;
        out.alignment = 4096;
        out.copy_alignment = 64;
        out.capacity = out.available = 1ull << 40;
        constexpr const char *names[] = {"dram", "soft", "vram", "cold", "alias"};
        set(out.name, sizeof(out.name), names[tier]);
        out.kind = tier == cold ? HBF_TIER_COLD : HBF_TIER_HBM;
        out.access = HBF_ACCESS_DMA;
        if (tier == dram || tier == soft || tier == alias) {
            if (!script_.vram_only) out.access |= HBF_ACCESS_CPU;
            out.access |= HBF_ACCESS_DEVICE;
            out.coherence_domain = tier == soft ? 1 : 0;
        }
        if (tier == vram) {
            out.access |= HBF_ACCESS_DEVICE;
            out.capacity = out.available = script_.vram_bytes;
            out.extended_by = cold;
        }
        if (tier == cold) {
            out.flags = HBF_TIER_FLAG_PERSISTENT;
            out.capacity = out.available = script_.cold_bytes;
        }
    }

    hbf_region_info alloc(const sdk::AllocRequest &request) override {
        FakeRegion region;
        region.size = request.size;
        region.tier = request.tier;
        region.mapped = (request.size + 4095) / 4096 * 4096;
        const uint64_t capacity = request.tier == vram   ? script_.vram_bytes
                                  : request.tier == cold ? script_.cold_bytes
                                                         : 1ull << 40;
        if (used_[request.tier].fetch_add(region.mapped) + region.mapped > capacity) {
            used_[request.tier] -= region.mapped;
            sdk::fail(HBF_EXHAUSTED, "fake: the tier is full");
        }
        region.bytes = request.tier == alias ? map_alias(region.mapped) : map_sparse(region.mapped);
        const bool cpu = !script_.vram_only && (request.tier == dram || request.tier == soft || request.tier == alias);
        const bool apart = request.tier == soft || (request.tier == dram && script_.lies);
        region.cpu = !cpu ? nullptr : apart ? map_sparse(region.mapped) : region.bytes;
        return insert(region);
    }

    bool can_register_host() const override { return true; }
    hbf_region_info register_host(void *address, uint64_t size) override {
        if (!script_.can_register) sdk::fail(HBF_UNSUPPORTED, "fake: no registration");
        FakeRegion region;
        region.bytes = region.cpu = static_cast<std::byte *>(address);
        region.size = size;
        ++script_.registrations;
        return insert(region);
    }

    void free(hbf_region handle) override {
        FakeRegion region = regions_.take(handle);
        unmap(region);
        --script_.live_regions;
    }

    hbf_queue_info queue_info() const override {
        return {sizeof(hbf_queue_info), script_.capabilities, HBF_VISIBLE_DEVICE | HBF_VISIBLE_HOST,
                script_.max_depth,      script_.max_commands, 4096};
    }

    std::unique_ptr<sdk::Queue> create_queue(const sdk::QueueRequest &request) override {
        auto queue = std::make_shared<FakeQueue>(script_, regions_, request.depth, request.commands);
        auto handle = std::make_unique<FakeQueueHandle>(queue, script_);
        ++script_.live_queues;
        std::lock_guard lock(script_.mutex);
        script_.queue_list.push_back(queue);
        return handle;
    }

    sdk::Coherence *coherence() override { return this; }
    sdk::Kernels *kernels() override { return script_.kernels.empty() ? nullptr : this; }

private:
    uint32_t domain_count() const override { return 2; }
    void describe(uint32_t domain, hbf_domain_info &out) const override {
        out.struct_size = sizeof(out);
        out.protocol = domain == 0 ? HBF_PROTOCOL_HARDWARE : HBF_PROTOCOL_SOFTWARE;
        out.granule = 64;
        out.agents = HBF_AGENT_CPU | HBF_AGENT_COPY_ENGINE;
        out.atomic_widths = 15;
        set(out.name, sizeof(out.name), domain == 0 ? "coherent" : "explicit");
    }

    uint32_t kernel_count() const override { return static_cast<uint32_t>(script_.kernels.size()); }
    std::string_view kernel_name(uint32_t index) const override { return script_.kernels[index]; }
    void find(std::string_view name, hbf_kernel_info &out) override {
        ++script_.finds;
        const auto has = std::find(script_.kernels.begin(), script_.kernels.end(), name) != script_.kernels.end();
        const FakeKernel *kernel = has ? find_fake_kernel(name) : nullptr;
        if (kernel == nullptr) sdk::fail(HBF_UNSUPPORTED, "fake: no such kernel");
        if (script_.kernel_status != HBF_OK) sdk::fail(script_.kernel_status, "fake: error: expected ';'");
        out.struct_size = sizeof(out);
        out.max_group_size = 256;
        out.kernel = id_of(*kernel);
        out.arguments_size = kernel->arguments_size;
        out.buffer_count = kernel->buffer_count;
        set(out.name, sizeof(out.name), std::string(name).c_str());
        set(out.origin, sizeof(out.origin), "host twin");
    }

    hbf_region_info insert(const FakeRegion &region) {
        hbf_region_info info{};
        info.struct_size = sizeof(info);
        info.tier = region.tier;
        info.size = region.size;
        info.page_size = region.tier == HBF_TIER_NONE ? 0 : 4096;
        info.address = region.cpu;
        info.region = regions_.insert(region);
        ++script_.live_regions;
        return info;
    }
    void unmap(FakeRegion &region) {
        if (region.tier == HBF_TIER_NONE) return;
        used_[region.tier] -= region.mapped;
        if (region.cpu != nullptr && region.cpu != region.bytes) munmap(region.cpu, region.mapped);
        munmap(region.bytes, region.mapped);
    }

    Script &script_;
    FakeRegions regions_;
    std::atomic<uint64_t> used_[5] = {};
};

struct FakePlugin final : sdk::Plugin {
    static constexpr sdk::Facts facts{"fake", "Tests", "1.0.0", "devices whose every fact and fault a test sets"};

    std::vector<hbf_device_info> probe(const sdk::ProbeArgs &) override {
        std::vector<hbf_device_info> found;
        std::lock_guard lock(devices().mutex);
        for (const auto &[id, script] : devices().scripts) {
            hbf_device_info info{};
            info.struct_size = sizeof(info);
            info.reality = script->device_reality;
            info.numa_node = -1;
            set(info.id, sizeof(info.id), id.c_str());
            set(info.name, sizeof(info.name), ("fake " + id).c_str());
            set(info.driver, sizeof(info.driver), "fake 1");
            found.push_back(info);
        }
        if (found.empty()) sdk::fail(HBF_UNAVAILABLE, "fake: no script");
        return found;
    }
    std::unique_ptr<sdk::Instance> create(const sdk::CreateArgs &args) override {
        std::lock_guard lock(devices().mutex);
        const auto found = devices().scripts.find(args.device_id);
        if (found == devices().scripts.end()) sdk::fail(HBF_UNAVAILABLE, "fake: no such device");
        if (found->second->create_status != HBF_OK) sdk::fail(found->second->create_status, "fake: told not to open");
        return std::make_unique<FakeInstance>(*found->second);
    }
};

} // namespace

std::vector<std::shared_ptr<FakeQueue>> Script::queues() {
    std::lock_guard lock(mutex);
    std::vector<std::shared_ptr<FakeQueue>> alive;
    for (const auto &known : queue_list)
        if (auto queue = known.lock()) alive.push_back(std::move(queue));
    return alive;
}

void Script::run(uint64_t values) {
    for (const auto &queue : queues()) queue->run(values);
}

void Script::run_queue(size_t queue, uint64_t values) {
    queues().at(queue)->run(values);
}

const hbf_plugin *fake_plugin() {
    hbf_host_info host{};
    host.struct_size = sizeof(host);
    host.abi_min = HBF_ABI_VERSION;
    host.sanitizer = HBF_SANITIZER_NONE;
    return sdk::shell::query<FakePlugin>(HBF_ABI_VERSION, &host);
}

Script &add_device(const std::string &id) {
    std::lock_guard lock(devices().mutex);
    auto &script = devices().scripts[id];
    script = std::make_unique<Script>();
    return *script;
}

void reset_devices() {
    std::lock_guard lock(devices().mutex);
    devices().scripts.clear();
}

} // namespace hbf::testing
