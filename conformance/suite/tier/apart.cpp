// SPDX-License-Identifier: Apache-2.0
// Regions share no byte with each other, nor with those that were there before.
#include <algorithm>
#include <deque>
#include <unordered_set>

#include "conformance/suite/dma/finding.hpp"
#include "conformance/suite/dma/model.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t sizes[] = {1 << 20, 100, 300000, 4096, 4097, 65600, 65536, 200001};

// All are written before one is read: each byte names its region and place in it, so two regions that share one show.
HBF_CASE("tier.alloc.regions_do_not_overlap",
         {.rules = {"HBF-TIER-6"},
          .kills = {"m11_address_bit_ignored", "regions_share_memory", "mappings_overlap", "cnrt_out_of_memory",
                    "cuda_out_of_memory", "hip_out_of_memory", "mlu370_same_memory"},
          .needs = need::cpu_tier}) {
    Instance &device = context.device();
    ByteAccess access(device);
    Buffers buffers(device);
    std::deque<hbf_region_info> regions;
    std::deque<Model> models;
    for (const uint32_t tier : device.dma_tiers()) {
        for (const uint64_t size : sizes) {
            regions.push_back(buffers.make(tier, size));
            const std::string name = device.tier(tier).name;
            models.emplace_back(access, regions.back(), fmt::format("the region of {} bytes in {}", size, name), name);
        }
    }
    const hbf_region_info staging = buffers.make(device.cpu_tier(), 1 << 20);

    // By commands, as the device addresses memory; the source is loaded with what each region shall hold.
    Model source(access, staging, "staging", device.tier(device.cpu_tier()).name);
    const Queue queue(device);
    for (Model &model : models) {
        source.load(context.seed() ^ model.region().region * 0x9e3779b9u, 1);
        model.forget_writes();
        device.must_run(queue, {model.copy_from(0, source, 0, model.size())});
    }
    for (Model &model : models) model.verify(context, "after every region was written");
}

// Bytes of a region that was freed, looked for in those made after it. Eight in a row are no chance.
void must_be_clean(Context &context, ByteAccess &access, const hbf_region_info &region,
                   const std::unordered_set<uint64_t> &foreign, const std::string &tier) {
    context.count_check();
    const auto bytes = access.read(region, 0, region.size / 8 * 8);
    for (uint64_t at = 0; at < bytes.size(); at += 8) {
        uint64_t word = 0;
        std::memcpy(&word, bytes.data() + at, 8);
        if (!foreign.contains(word)) continue;
        Evidence evidence;
        evidence.fault_class = fault::stale;
        evidence.tier = tier;
        evidence.region = region.region;
        evidence.offset = at;
        evidence.actual = word;
        evidence.width = 8;
        evidence.detail =
            fmt::format("a new region of {} shows at offset {:#x} what a region that was freed held", tier, at);
        fail_with(std::move(evidence));
    }
}

HBF_CASE("tier.alloc.no_foreign_bytes",
         {.rules = {"HBF-TIER-6"}, .kills = {"fresh_region_shows_old_bytes", "free_denied"}, .needs = need::cpu_tier}) {
    Instance &device = context.device();
    ByteAccess access(device);
    const std::unique_ptr<Instance> other = context.subject().must_create();
    ByteAccess other_access(*other);
    for (const uint32_t tier : device.dma_tiers()) {
        const std::string name = device.tier(tier).name;
        for (const uint64_t size : {uint64_t{4096}, uint64_t{100000}}) {
            std::unordered_set<uint64_t> foreign;
            for (uint32_t i = 0; i < 4; ++i) {
                const hbf_region_info region = device.must_alloc(tier, size);
                Model model(access, region, name, name);
                model.load(context.seed(), i);
                for (uint64_t at = 0; at + 8 <= size; at += 8) {
                    uint64_t word = 0;
                    std::memcpy(&word, model.bytes().data() + at, 8);
                    foreign.insert(word);
                }
                device.must_free(region.region);
            }
            Regions regions(device), others(*other);
            for (unsigned i = 0; i < 6; ++i) {
                must_be_clean(context, access, regions.make(tier, size), foreign, name);
                must_be_clean(context, other_access, others.make(tier, size), foreign, name);
            }
        }
    }
}

} // namespace
} // namespace hbf::conformance
