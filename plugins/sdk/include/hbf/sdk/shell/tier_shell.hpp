// SPDX-License-Identifier: Apache-2.0
// "hbf.tier/1" over an author's Instance: what any tier must refuse is refused here.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

#include "hbf/abi/tier.h"
#include "hbf/sdk/shell/instance_shell.hpp"

namespace hbf::sdk::shell {

inline hbf_status tier_describe(hbf_instance *handle, uint32_t tier, hbf_tier_info *out, hbf_error *error) noexcept {
    if (!handle) return refuse(error, HBF_INVALID, "describe tier: instance is NULL");
    if (!usable(out, HBF_TIER_INFO_MIN_SIZE))
        return refuse(error, HBF_INVALID, "describe tier: out is NULL or its struct_size too small");
    InstanceShell &shell = *InstanceShell::of(handle);
    if (tier >= shell.tier_table.tier_count) return refuse(error, HBF_INVALID, "describe tier: no tier of this index");
    return guard(error, [&] {
        hbf_tier_info info{};
        info.struct_size = sizeof info;
        shell.instance->describe_tier(tier, info);
        terminate(info.name);
        terminate(info.detail);
        write(*out, info);
        return HBF_OK;
    });
}

// [A-Za-z0-9_-][A-Za-z0-9._-]{0,63}: it may become a file name, so it starts with no dot and holds no slash.
inline bool is_region_name(std::string_view name) noexcept {
    if (name.empty() || name.size() > 64 || name.front() == '.') return false;
    for (const char c : name) {
        const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!word && c != '.' && c != '_' && c != '-') return false;
    }
    return true;
}

inline AllocRequest alloc_request(const hbf_alloc_desc &given, uint32_t tier_count) {
    const hbf_alloc_desc desc = read(given);
    const std::string_view name = view(desc.name, "alloc: name");
    if (desc.tier >= tier_count) fail(HBF_INVALID, "alloc: no tier of index " + std::to_string(desc.tier));
    if (desc.size == 0) fail(HBF_INVALID, "alloc: size is 0");
    if (desc.alignment != 0 && !std::has_single_bit(desc.alignment))
        fail(HBF_INVALID, "alloc: alignment " + std::to_string(desc.alignment) + " is not a power of two");
    if (desc.pages > HBF_PAGES_1G) fail(HBF_INVALID, "alloc: unknown page size " + std::to_string(desc.pages));
    if ((desc.flags & ~HBF_ALLOC_OPEN_EXISTING) != 0) fail(HBF_INVALID, "alloc: unknown flags");
    if (!name.empty() && !is_region_name(name))
        fail(HBF_INVALID, "alloc: a region name is 1 to 64 of A-Z a-z 0-9 . _ - and does not start with a dot");
    if ((desc.flags & HBF_ALLOC_OPEN_EXISTING) != 0 && name.empty())
        fail(HBF_INVALID, "alloc: which existing region to open? There is no name");
    return {desc.tier,  desc.size,         desc.alignment,
            desc.pages, std::string(name), (desc.flags & HBF_ALLOC_OPEN_EXISTING) != 0};
}

// Common to the functions that make a region: `make` returns its hbf_region_info.
template <class Make>
hbf_status make_region(hbf_instance *handle, hbf_region_info *out, hbf_error *error, Make &&make) noexcept {
    if (!usable(out, HBF_REGION_INFO_MIN_SIZE))
        return refuse(error, HBF_INVALID, "new region: out is NULL or its struct_size too small");
    out->region = 0;
    if (!handle) return refuse(error, HBF_INVALID, "new region: instance is NULL");
    return guard(error, [&] {
        const hbf_region_info info = make(*InstanceShell::of(handle));
        if (info.region == 0) fail(HBF_INTERNAL, "the plugin made a region with handle 0");
        write(*out, info);
        return HBF_OK;
    });
}

inline hbf_status tier_alloc(hbf_instance *handle, const hbf_alloc_desc *desc, hbf_region_info *out,
                             hbf_error *error) noexcept {
    return make_region(handle, out, error, [&](InstanceShell &shell) {
        if (!usable(desc, HBF_ALLOC_DESC_MIN_SIZE)) fail(HBF_INVALID, "alloc: desc is NULL or its struct_size too small");
        return shell.instance->alloc(alloc_request(*desc, shell.tier_table.tier_count));
    });
}

inline hbf_status tier_free(hbf_instance *handle, hbf_region region, hbf_error *error) noexcept {
    if (!handle) return refuse(error, HBF_INVALID, "free: instance is NULL");
    if (region == 0) return refuse(error, HBF_INVALID, "free: 0 is not a region");
    return guard(error, [&] {
        InstanceShell::of(handle)->instance->free(region);
        return HBF_OK;
    });
}

inline hbf_status tier_register_host(hbf_instance *handle, void *address, uint64_t size, hbf_region_info *out,
                                     hbf_error *error) noexcept {
    return make_region(handle, out, error, [&](InstanceShell &shell) {
        if (!address || size == 0) fail(HBF_INVALID, "register_host: address is NULL or size is 0");
        if (reinterpret_cast<uintptr_t>(address) + size < size)
            fail(HBF_INVALID, "register_host: the range runs past the end of the address space");
        return shell.instance->register_host(address, size);
    });
}

} // namespace hbf::sdk::shell
