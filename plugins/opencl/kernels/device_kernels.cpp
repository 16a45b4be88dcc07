// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/kernels/device_kernels.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "hbf/sdk/text.hpp"

namespace hbf::opencl {

namespace device = kernels::device;

DeviceKernels::DeviceKernels(const Functions &cl, cl_context context, cl_device_id id, const sdk::Log &log)
    : cl_(cl), context_(context), device_(id), log_(log), ability_(read_ability(cl, id)), cache_(log),
      slots_(device::catalogue().size()) {
    for (size_t i = 0; i < slots_.size(); ++i)
        if (missing(ability_, device::catalogue()[i]).empty()) listed_.push_back(i);
}

std::string_view DeviceKernels::kernel_name(uint32_t index) const {
    return device::catalogue()[listed_[index]].name;
}

void DeviceKernels::find(std::string_view name, hbf_kernel_info &out) {
    const device::Kernel *const kernel = device::find(name);
    if (!kernel) sdk::fail(HBF_UNSUPPORTED, fmt::format("there is no kernel \"{}\"", name.substr(0, 64)));
    if (const std::string why = missing(ability_, *kernel); !why.empty())
        sdk::fail(HBF_UNSUPPORTED, fmt::format("kernel {} cannot run on {}: {}", name, ability_.device.name, why));
    const size_t index = static_cast<size_t>(kernel - device::catalogue().data());
    const Known &known = get(index);
    out.kernel = index + 1;
    out.max_group_size = known.built.max_group_size;
    out.arguments_size = kernel->arguments_size;
    out.buffer_count = kernel->buffer_count;
    out.concurrent_groups = concurrent_groups();
    sdk::set_text(out.name, kernel->name);
    sdk::set_text(out.origin, known.built.from_cache ? "built at run time, from the cache" : "built at run time");
}

const DeviceKernels::Known *DeviceKernels::known(uint64_t id) const noexcept {
    return id == 0 || id > slots_.size() ? nullptr : slots_[id - 1].known.load(std::memory_order_acquire);
}

const DeviceKernels::Known &DeviceKernels::get(size_t index) {
    Slot &slot = slots_[index];
    if (const Known *const known = slot.known.load(std::memory_order_acquire)) return *known;
    // Kernels are built side by side; who wants the same one waits for it.
    std::lock_guard lock(slot.building);
    if (!slot.storage) {
        const device::Kernel &kernel = device::catalogue()[index];
        auto known = std::make_unique<Known>();
        known->kernel = &kernel;
        known->built = build({cl_, context_, device_, ability_, cache_, log_}, kernel);
        slot.storage = std::move(known);
        slot.known.store(slot.storage.get(), std::memory_order_release);
    }
    return *slot.storage;
}

// A compute unit runs a group from its beginning to its end, and an idle device spreads a launch over all of them: so do the
// implementations for CPUs and GPUs. The standard promises it of no device, so of others nothing is known.
uint32_t DeviceKernels::concurrent_groups() const {
    return (ability_.type & (CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU)) != 0 ? std::max(ability_.device.units, 1u) : 1;
}

} // namespace hbf::opencl
