// SPDX-License-Identifier: Apache-2.0
// A complete HBF plugin: one memory tier, and a queue that does its work inside submit. Copy this folder, rename it, and put
// your device's calls where memory is allocated and copied. The rules are in docs/plugin-rules.md.
#include <atomic>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <unistd.h>

#include "hbf/sdk/entry.hpp"
#include "hbf/sdk/region_table.hpp"
#include "hbf/sdk/wait.hpp"

namespace {
using namespace hbf::sdk;

constexpr uint64_t granule = 64 * 1024, usual_bytes = 64 << 20;

struct Block {
    std::unique_ptr<std::byte[]> memory; // more than size, to be aligned
    std::byte *address = nullptr;
    uint64_t size = 0, taken = 0;
};

class TemplateQueue final : public Queue {
public:
    TemplateQueue(RegionTable<Block> &regions, uint32_t commands) : regions_(regions), pinned_(2 * size_t{commands}) {}

    // All or nothing: every command is checked, and its regions pinned, before the first one runs.
    uint64_t submit(const BatchView &batch) override {
        const Unpin unpin{*this};
        for (uint64_t i = 0; i < batch.size(); ++i) check(batch[i]);
        for (uint64_t i = 0; i < batch.size(); ++i) run(batch[i]);
        return completed_.fetch_add(1, std::memory_order_release) + 1;
    }
    Progress poll() noexcept override { return {completed_.load(std::memory_order_acquire), 0, HBF_OK}; }
    bool wait(uint64_t, uint64_t) override { return true; } // what submit has returned is done
    bool cancel(uint64_t) override { return false; }
    std::optional<Failure> failure() const override { return std::nullopt; }
    bool idle() noexcept override { return true; }

private:
    struct Unpin {
        TemplateQueue &queue;
        ~Unpin() {
            while (queue.pins_ > 0) queue.regions_.unpin(queue.pinned_[--queue.pins_]);
        }
    };

    void check(const hbf_command &command) {
        if (command.flags != 0) fail(HBF_UNSUPPORTED, "this queue computes no checksums");
        switch (command.kind) {
        case HBF_COMMAND_COPY: {
            const hbf_copy &c = command.u.copy;
            const std::byte *to = pin(c.dst, c.dst_offset, c.size), *from = pin(c.src, c.src_offset, c.size);
            if (to < from + c.size && from < to + c.size)
                fail(HBF_INVALID, "source and destination overlap", c.dst, c.dst_offset);
            return;
        }
        case HBF_COMMAND_FILL: {
            const hbf_fill &f = command.u.fill;
            if (f.pattern_size != 1 && f.pattern_size != 2 && f.pattern_size != 4 && f.pattern_size != 8)
                fail(HBF_INVALID, "a pattern has 1, 2, 4 or 8 bytes");
            pin(f.dst, f.dst_offset, f.size);
            return;
        }
        case HBF_COMMAND_FLUSH:
        case HBF_COMMAND_INVALIDATE:
            pin(command.u.range.region, command.u.range.offset, command.u.range.size);
            return;
        case HBF_COMMAND_WAIT:
            if (command.u.wait.queue && !waited_queue(command.u.wait))
                fail(HBF_INVALID, "wait: submit has not returned this value");
            return;
        case HBF_COMMAND_LAUNCH:
            fail(HBF_UNSUPPORTED, "this device runs no kernels");
        default:
            fail(HBF_INVALID, "unknown command " + std::to_string(command.kind));
        }
    }

    void run(const hbf_command &command) {
        if (command.kind == HBF_COMMAND_COPY) {
            const hbf_copy &c = command.u.copy;
            std::memcpy(at(c.dst, c.dst_offset), at(c.src, c.src_offset), c.size);
        } else if (command.kind == HBF_COMMAND_FILL) {
            const hbf_fill &f = command.u.fill;
            std::byte pattern[8], *const to = at(f.dst, f.dst_offset);
            std::memcpy(pattern, &f.pattern, sizeof pattern);
            for (uint64_t i = 0; i < f.size; ++i) to[i] = pattern[i % f.pattern_size];
        } // the CPU's caches are coherent: nothing to do for flush and invalidate; waits are over by the time submit is
          // called
    }

    std::byte *pin(hbf_region region, uint64_t offset, uint64_t size) {
        const Block *block = regions_.pin(region);
        if (!block) fail(HBF_INVALID, "stale region handle", region);
        pinned_[pins_++] = region;
        if (size == 0 || offset > block->size || size > block->size - offset)
            fail(HBF_INVALID, "size is 0, or the range leaves the region", region, offset);
        return block->address + offset;
    }
    std::byte *at(hbf_region region, uint64_t offset) { return regions_.find(region)->address + offset; } // pinned

    RegionTable<Block> &regions_;
    std::vector<hbf_region> pinned_; // room for the largest batch: submit allocates nothing
    size_t pins_ = 0;
    std::atomic<uint64_t> completed_{0};
};

class TemplateInstance final : public Instance {
public:
    explicit TemplateInstance(uint64_t capacity) : capacity_(capacity) {}

    uint32_t tier_count() const override { return 1; }
    void describe_tier(uint32_t, hbf_tier_info &out) override {
        out.kind = HBF_TIER_HBF;
        out.media = HBF_MEDIA_DRAM;
        out.reality = HBF_REALITY_REAL;
        out.access = HBF_ACCESS_CPU | HBF_ACCESS_DMA;
        out.numa_node = -1;
        out.coherence_domain = HBF_DOMAIN_NONE;
        out.extended_by = HBF_TIER_NONE;
        out.capacity = capacity_;
        out.available = capacity_ - used_;
        out.granule = out.alignment = out.copy_alignment = granule;
        set_text(out.name, "template0");
        set_text(out.detail, "ordinary memory of this process");
    }
    hbf_region_info alloc(const AllocRequest &request) override {
        if (!request.name.empty()) fail(HBF_UNSUPPORTED, "memory keeps no names");
        if (request.pages != HBF_PAGES_DEFAULT) fail(HBF_UNAVAILABLE, "page sizes cannot be chosen here");
        if (request.alignment > granule) fail(HBF_UNSUPPORTED, "alignment over 64 KiB");
        const uint64_t taken = request.size > capacity_ ? UINT64_MAX : (request.size + granule - 1) / granule * granule;
        uint64_t used = used_;
        do {
            if (taken > capacity_ - used) fail(HBF_EXHAUSTED, "the tier is full");
        } while (!used_.compare_exchange_weak(used, used + taken));
        try {
            auto memory = std::make_unique<std::byte[]>(taken + granule);
            auto *const address = memory.get() + (granule - reinterpret_cast<uintptr_t>(memory.get()) % granule);
            const hbf_region region = regions_.insert({std::move(memory), address, request.size, taken});
            return {0, request.tier, region, request.size, static_cast<uint64_t>(sysconf(_SC_PAGESIZE)), address};
        } catch (...) {
            used_ -= taken;
            throw;
        }
    }
    void free(hbf_region region) override { used_ -= regions_.take(region).taken; } // BUSY while pinned, INVALID if stale

    hbf_queue_info queue_info() const override { return {0, 0, HBF_VISIBLE_DEVICE | HBF_VISIBLE_HOST, 64, 1024, 64}; }
    std::unique_ptr<Queue> create_queue(const QueueRequest &request) override {
        return std::make_unique<TemplateQueue>(regions_, request.commands ? request.commands : queue_info().max_commands);
    }

private:
    const uint64_t capacity_;
    std::atomic<uint64_t> used_{0};
    RegionTable<Block> regions_;
};

class TemplatePlugin final : public Plugin {
public:
    static constexpr Facts facts{
        .name = "template", .vendor = "Example", .version = "0.1.0", .description = "one memory tier"};

    std::vector<hbf_device_info> probe(const ProbeArgs &) override { // look, but open nothing that has an effect
        hbf_device_info device{};
        device.reality = HBF_REALITY_REAL;
        device.numa_node = -1;
        set_text(device.id, "template0");
        set_text(device.name, "memory of this process");
        return {device};
    }
    std::unique_ptr<Instance> create(const CreateArgs &args) override {
        if (args.device_id != "template0") fail(HBF_UNAVAILABLE, "there is no device " + args.device_id);
        for (const auto &[key, value] : args.options)
            if (key != "mebibytes" || value.empty() || value.size() > 6 ||
                value.find_first_not_of("0123456789") != value.npos)
                fail(HBF_INVALID, "option " + key + " = \"" + value + "\": only mebibytes = 0 to 999999 is known");
        const auto set = args.options.find("mebibytes");
        return std::make_unique<TemplateInstance>(set == args.options.end() ? usual_bytes : std::stoull(set->second) << 20);
    }
};
} // namespace

HBF_PLUGIN(TemplatePlugin);
