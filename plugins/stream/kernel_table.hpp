// SPDX-License-Identifier: Apache-2.0
// "hbf.kernels/1" for a device with streams: the project's kernels that it can run, each loaded when it is first asked for,
// and the checks of a launch.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hbf/abi/command.h"
#include "hbf/sdk/instance.hpp"
#include "kernels/device/catalogue.hpp"

namespace hbf::stream {

struct LoadedKernel {
    void *function = nullptr;       // what StreamApi::launch is given
    uint32_t max_group_size = 0;    // work-items
    std::string origin;             // "prebuilt sm_90", "built at run time", ...
    uint32_t concurrent_groups = 1; // for certain
};

// A plugin's way from a kernel of the catalogue to one that its runtime launches. What it loaded lives as long as it.
class KernelLoader {
public:
    virtual ~KernelLoader() = default;
    virtual std::string device() const = 0; // for people
    // What this device lacks for it: "it needs fp64"; "" if it can run it.
    virtual std::string missing(const kernels::device::Kernel &kernel) const = 0;
    // [any thread, one kernel only once unless it fails] Throws sdk::Failure: UNAVAILABLE where it does not build or load.
    virtual LoadedKernel load(const kernels::device::Kernel &kernel) = 0;
    std::array<uint32_t, 3> most_items{1024, 1024, 64}; // work-items of a group, by dimension
    std::array<uint32_t, 3> most_groups{0x7fffffff, 65535, 65535};
};

class KernelTable final : public sdk::Kernels {
public:
    explicit KernelTable(std::unique_ptr<KernelLoader> loader);

    uint32_t kernel_count() const override { return static_cast<uint32_t>(listed_.size()); }
    std::string_view kernel_name(uint32_t index) const override;
    void find(std::string_view name, hbf_kernel_info &out) override;

    struct Known {
        const kernels::device::Kernel *kernel;
        LoadedKernel loaded;
    };
    // [any thread] Throws HBF_INVALID where the launch does not fit its kernel: id, buffers and their access, arguments,
    // groups. Regions are the caller's to check.
    const Known &check(const hbf_launch &launch) const;

    static constexpr uint32_t most_launched = 16; // buffers; a kernel with more is not listed
    // Buffers of the kernel that has most.
    static uint32_t most_buffers();

private:
    struct Slot {
        std::mutex loading;
        std::unique_ptr<const Known> storage;
        std::atomic<const Known *> known{nullptr};
    };
    const Known &get(size_t index);

    std::unique_ptr<KernelLoader> loader_;
    std::vector<size_t> listed_; // places in the catalogue
    std::vector<Slot> slots_;    // a place in the catalogue each; an id is that, from 1
};

} // namespace hbf::stream
