// SPDX-License-Identifier: Apache-2.0
// A round's device and cache: the wrapper around a plugin, and of its tiers those that a cache wants.
#include <dlfcn.h>
#include <fmt/format.h>

#include "conformance/engine/campaign.hpp"
#include "hbf/abi/version.h"

namespace hbf::campaign {
namespace {

constexpr uint64_t granule = 64 * 1024;

const hbf_plugin *open_plugin(const std::string &file, std::string &why) {
    void *const library = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return why = ::dlerror(), nullptr;
    const auto query = reinterpret_cast<hbf_plugin_query_fn>(::dlsym(library, HBF_PLUGIN_QUERY_SYMBOL));
    hbf_host_info host{};
    host.struct_size = sizeof host;
    host.abi_min = HBF_ABI_VERSION;
    const hbf_plugin *const plugin = query ? query(HBF_ABI_VERSION, &host) : nullptr;
    if (!plugin) why = file + ": no plugin of this version";
    return plugin;
}

DeviceOptions options_of(const Files &files, const Round &round) {
    DeviceOptions options;
    options.litmus = false; // a fault would be met there, and the device refused
    options.options = {{"inject.plugin", files.plugin}};
    if (files.plugin.find("hbf_plugin_host") != std::string::npos) {
        options.options.emplace_back("storage_path", files.folder);
        for (const char *const size : {"storage_bytes", "dram_bytes", "hbf_bytes"})
            options.options.emplace_back(size, "67108864");
    }
    for (size_t at = 0; round.fault != no_fault && at <= round.fault.size();) {
        const size_t end = std::min(round.fault.find(';', at), round.fault.size());
        options.options.emplace_back("inject.fault", round.fault.substr(at, end - at) + fmt::format(",seed={}", round.seed));
        at = end + 1;
    }
    return options;
}

// Of several tiers of a kind the one that the CPU reaches too.
std::optional<kv::Place> place(Device &device, TierKind kind, uint64_t bytes) {
    const TierInfo *found = nullptr;
    for (const TierInfo &tier : device.tiers())
        if (tier.kind == kind && (found == nullptr || (tier.cpu_access && !found->cpu_access))) found = &tier;
    if (found == nullptr) return std::nullopt;
    return kv::Place{device, found->index, bytes};
}

} // namespace

void run_round(const Files &files, unsigned steps, Round &round) {
    const hbf_plugin *const plugin = open_plugin(files.wrapper, round.no_cache);
    if (!plugin) return;
    auto device = Device::open(plugin, options_of(files, round));
    if (!device) {
        round.no_cache = device.error().message;
        return;
    }
    round.emulated = device->emulated();
    const Shape shape;
    kv::CacheOptions cache;
    cache.model.layers = shape.layers;
    cache.model.query_heads = shape.query_heads;
    cache.model.kv_heads = shape.kv_heads;
    cache.model.head_dim = shape.head_dim;
    cache.model.element = kv::Element::fp32;
    cache.settings.kv.chunk_size = 16;
    cache.deadline = std::chrono::milliseconds(500);
    cache.background = round.seed % 2 == 0;
    cache.show = false;
    cache.verify_reads = round.verifies; // or what a fault does to memory that is read in place would not be seen
    cache.hbm = place(*device, TierKind::hbm, 40 * granule);
    cache.hbf = place(*device, TierKind::hbf, 60 * granule);
    cache.cold = place(*device, TierKind::cold, 200 * granule);
    auto opened = kv::KvCache::open(cache);
    if (!opened)
        round.no_cache = opened.error().message;
    else
        play(std::move(*opened), shape, steps, round);
}

} // namespace hbf::campaign
