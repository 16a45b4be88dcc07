// SPDX-License-Identifier: Apache-2.0
// Launches of the kernel that copies: what cases of order, life and visibility let run.
#pragma once

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/launch.hpp"
#include "kernels/device/copy.h"

namespace hbf::conformance {

class CopyKernel {
public:
    explicit CopyKernel(Context &context) : info_(need_kernel(context, "copy/1")) {
        Instance &device = context.device();
        Regions regions(device);
        const hbf_region region = regions.make(kernel_tiers(device).at(0), 16).region;
        must_run_first(device, Queue(device), {launch(region, 8, region, 0, 8).command()});
    }
    const hbf_kernel_info &info() const { return info_; }

    // Offsets are multiples of 8.
    Launch launch(hbf_region dst, uint64_t dst_offset, hbf_region src, uint64_t src_offset, uint64_t size) const {
        return Launch(info_)
            .buffer(src, src_offset, size, HBF_KERNEL_READS)
            .buffer(dst, dst_offset, size, HBF_KERNEL_WRITES)
            .with(kernels::device::copy_arguments{size})
            .shape(4, 64);
    }

private:
    hbf_kernel_info info_;
};

} // namespace hbf::conformance
