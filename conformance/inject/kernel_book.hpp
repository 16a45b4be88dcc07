// SPDX-License-Identifier: Apache-2.0
// The kernels that the host has found: what a launch of each must look like.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "hbf/abi/kernels.h"

namespace hbf::inject {

// [any-thread]
class KernelBook {
public:
    void add(const hbf_kernel_info &kernel) {
        std::lock_guard lock(mutex_);
        kernels_[kernel.kernel] = kernel;
    }
    std::optional<hbf_kernel_info> find(uint64_t id) const {
        std::lock_guard lock(mutex_);
        const auto found = kernels_.find(id);
        return found == kernels_.end() ? std::nullopt : std::optional(found->second);
    }

private:
    mutable std::mutex mutex_;
    std::map<uint64_t, hbf_kernel_info> kernels_;
};

} // namespace hbf::inject
