// SPDX-License-Identifier: Apache-2.0
// "hbf.coherence/1", "hbf.kernels/1" and "hbf.health/1" over what an author's Instance has of them.
#pragma once

#include <cstdint>
#include <vector>

#include "hbf/abi/coherence.h"
#include "hbf/abi/health.h"
#include "hbf/abi/kernels.h"
#include "hbf/sdk/shell/instance_shell.hpp"

namespace hbf::sdk::shell {

inline hbf_status coherence_describe(hbf_instance *handle, uint32_t domain, hbf_domain_info *out,
                                     hbf_error *error) noexcept {
    if (!handle) return refuse(error, HBF_INVALID, "describe domain: instance is NULL");
    if (!usable(out, HBF_DOMAIN_INFO_MIN_SIZE))
        return refuse(error, HBF_INVALID, "describe domain: out is NULL or its struct_size too small");
    InstanceShell &shell = *InstanceShell::of(handle);
    if (domain >= shell.coherence_table.domain_count)
        return refuse(error, HBF_INVALID, "describe domain: no domain of this index");
    return guard(error, [&] {
        hbf_domain_info info{};
        info.struct_size = sizeof info;
        shell.coherence->describe(domain, info);
        terminate(info.name);
        terminate(info.detail);
        write(*out, info);
        return HBF_OK;
    });
}

inline hbf_status kernels_find(hbf_instance *handle, hbf_string name, hbf_kernel_info *out, hbf_error *error) noexcept {
    if (!handle) return refuse(error, HBF_INVALID, "find kernel: instance is NULL");
    if (!usable(out, HBF_KERNEL_INFO_MIN_SIZE))
        return refuse(error, HBF_INVALID, "find kernel: out is NULL or its struct_size too small");
    out->kernel = 0;
    return guard(error, [&] {
        hbf_kernel_info info{};
        info.struct_size = sizeof info;
        InstanceShell::of(handle)->kernels->find(view(name, "find kernel: name"), info);
        if (info.kernel == 0) fail(HBF_INTERNAL, "the plugin found a kernel with id 0");
        terminate(info.name);
        terminate(info.origin);
        write(*out, info);
        return HBF_OK;
    });
}

inline hbf_status kernels_name(hbf_instance *handle, uint32_t index, hbf_string *out, hbf_error *error) noexcept {
    if (!handle) return refuse(error, HBF_INVALID, "kernel name: instance is NULL");
    if (!out) return refuse(error, HBF_INVALID, "kernel name: out is NULL");
    InstanceShell &shell = *InstanceShell::of(handle);
    if (index >= shell.kernels_table.kernel_count) return refuse(error, HBF_INVALID, "kernel name: no kernel of this index");
    return guard(error, [&] {
        const std::string_view name = shell.kernels->kernel_name(index);
        *out = {name.data(), name.size()};
        return HBF_OK;
    });
}

inline hbf_status health_read(hbf_instance *handle, hbf_reading *readings, uint64_t stride, uint32_t capacity,
                              uint32_t *count, hbf_error *error) noexcept {
    if (!count) return refuse(error, HBF_INVALID, "read health: count is NULL");
    *count = 0;
    if (!handle) return refuse(error, HBF_INVALID, "read health: instance is NULL");
    return guard(error, [&] {
        const OutArray<hbf_reading> out(readings, stride, capacity);
        out.check(HBF_READING_MIN_SIZE, "readings");
        std::vector<hbf_reading> found = InstanceShell::of(handle)->health->read();
        for (hbf_reading &reading : found) {
            terminate(reading.name);
            terminate(reading.unit);
        }
        out.write(found);
        *count = static_cast<uint32_t>(found.size());
        return HBF_OK;
    });
}

} // namespace hbf::sdk::shell
