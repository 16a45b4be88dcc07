// SPDX-License-Identifier: Apache-2.0
// "hbf.kernels/1" of one device: those of the project's kernels that it can run, each built when it is first asked for.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "hbf/sdk/instance.hpp"
#include "hbf/sdk/log.hpp"
#include "plugins/opencl/kernels/build.hpp"

namespace hbf::opencl {

class DeviceKernels final : public sdk::Kernels {
public:
    // `cl`, `context` and `device` outlive this. Builds nothing. Throws sdk::Failure where the driver refuses to tell about
    // the device.
    DeviceKernels(const Functions &cl, cl_context context, cl_device_id device, const sdk::Log &log);

    uint32_t kernel_count() const override { return static_cast<uint32_t>(listed_.size()); }
    std::string_view kernel_name(uint32_t index) const override;
    void find(std::string_view name, hbf_kernel_info &out) override;

    // A kernel that find() has given out. Its id is its place in the catalogue, from 1.
    struct Known {
        const kernels::device::Kernel *kernel = nullptr;
        Built built;
    };
    const Known *known(uint64_t id) const noexcept; // [any thread] nullptr if find() has not given out this id
    static size_t largest_id() { return kernels::device::catalogue().size(); }

    const Ability &ability() const { return ability_; }
    const Functions &cl() const { return cl_; }

private:
    struct Slot {
        std::mutex building;
        std::unique_ptr<const Known> storage;
        std::atomic<const Known *> known{nullptr};
    };
    const Known &get(size_t index);
    uint32_t concurrent_groups() const;

    const Functions &cl_;
    cl_context context_;
    cl_device_id device_;
    sdk::Log log_;
    Ability ability_;
    ProgramCache cache_;
    std::vector<size_t> listed_; // places in the catalogue
    std::vector<Slot> slots_;    // a place in the catalogue each
};

} // namespace hbf::opencl
