// SPDX-License-Identifier: Apache-2.0
#include "plugins/stream/kernel_table.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/text.hpp"

namespace hbf::stream {

namespace device = kernels::device;

namespace {

void check_groups(const hbf_launch &launch, const KernelTable::Known &known, const KernelLoader &loader) {
    const std::string_view name = known.kernel->name;
    uint64_t items = 1;
    for (size_t i = 0; i < 3; ++i) {
        if (launch.groups[i] == 0 || launch.group_size[i] == 0)
            sdk::fail(HBF_INVALID,
                      fmt::format("launch of {}: dimension {} has {} groups of {} work-items, where each is at least 1",
                                  name, i, launch.groups[i], launch.group_size[i]));
        if (launch.group_size[i] > loader.most_items[i] || launch.groups[i] > loader.most_groups[i])
            sdk::fail(HBF_INVALID,
                      fmt::format("launch of {}: {} groups of {} work-items in dimension {}, where {} takes {} of {}", name,
                                  launch.groups[i], launch.group_size[i], i, loader.device(), loader.most_groups[i],
                                  loader.most_items[i]));
        items *= launch.group_size[i]; // each is at most what the device has, so three of them do not overflow
    }
    if (items > known.loaded.max_group_size)
        sdk::fail(HBF_INVALID, fmt::format("launch of {}: {} work-items in a group, where it takes {} at most", name, items,
                                           known.loaded.max_group_size));
}

void check_buffers(const hbf_launch &launch, const device::Kernel &kernel) {
    if (launch.buffer_count != kernel.buffer_count)
        sdk::fail(HBF_INVALID, fmt::format("launch of {}: {} buffers, where it has {}", kernel.name, launch.buffer_count,
                                           kernel.buffer_count));
    if (launch.arguments_size != kernel.arguments_size)
        sdk::fail(HBF_INVALID, fmt::format("launch of {}: {} bytes of arguments, where it has {}", kernel.name,
                                           launch.arguments_size, kernel.arguments_size));
    if ((!launch.buffers && launch.buffer_count > 0) || (!launch.arguments && launch.arguments_size > 0))
        sdk::fail(HBF_INVALID, fmt::format("launch of {}: its buffers or arguments are NULL", kernel.name));
    constexpr uint32_t all = HBF_KERNEL_READS | HBF_KERNEL_WRITES;
    for (uint64_t i = 0; i < launch.buffer_count; ++i) {
        const hbf_kernel_buffer &buffer = launch.buffers[i];
        if (buffer.offset % 8 != 0 || buffer.size == 0)
            sdk::fail(HBF_INVALID,
                      fmt::format("launch of {}: buffer {} has offset {} and size {}, where offsets are multiples of 8 and "
                                  "sizes above 0",
                                  kernel.name, i, buffer.offset, buffer.size),
                      buffer.region, buffer.offset);
        // What it does beyond what is said would be touched behind everybody's back.
        if ((buffer.access & ~all) != 0 || (kernel.access[i] & ~buffer.access) != 0)
            sdk::fail(HBF_INVALID,
                      fmt::format("launch of {}: buffer {} has access {}, where it needs {} (1 reads, 2 writes)",
                                  kernel.name, i, buffer.access, kernel.access[i]),
                      buffer.region, buffer.offset);
    }
}

} // namespace

KernelTable::KernelTable(std::unique_ptr<KernelLoader> loader)
    : loader_(std::move(loader)), slots_(device::catalogue().size()) {
    for (size_t i = 0; i < slots_.size(); ++i)
        if (device::catalogue()[i].buffer_count <= most_launched && loader_->missing(device::catalogue()[i]).empty())
            listed_.push_back(i);
}

std::string_view KernelTable::kernel_name(uint32_t index) const {
    return device::catalogue()[listed_[index]].name;
}

void KernelTable::find(std::string_view name, hbf_kernel_info &out) {
    const device::Kernel *const kernel = device::find(name);
    if (!kernel) sdk::fail(HBF_UNSUPPORTED, fmt::format("there is no kernel \"{}\"", name.substr(0, 64)));
    if (const std::string why = loader_->missing(*kernel); !why.empty())
        sdk::fail(HBF_UNSUPPORTED, fmt::format("kernel {} cannot run on {}: {}", name, loader_->device(), why));
    const size_t index = static_cast<size_t>(kernel - device::catalogue().data());
    const Known &known = get(index);
    out.kernel = index + 1;
    out.max_group_size = known.loaded.max_group_size;
    out.arguments_size = kernel->arguments_size;
    out.buffer_count = kernel->buffer_count;
    out.concurrent_groups = std::max(known.loaded.concurrent_groups, 1u);
    sdk::set_text(out.name, kernel->name);
    sdk::set_text(out.origin, known.loaded.origin);
}

const KernelTable::Known &KernelTable::get(size_t index) {
    Slot &slot = slots_[index];
    if (const Known *const known = slot.known.load(std::memory_order_acquire)) return *known;
    // Kernels are loaded side by side; who wants the same one waits for it.
    const std::lock_guard lock(slot.loading);
    if (!slot.storage) {
        const device::Kernel &kernel = device::catalogue()[index];
        slot.storage = std::make_unique<const Known>(Known{&kernel, loader_->load(kernel)});
        slot.known.store(slot.storage.get(), std::memory_order_release);
    }
    return *slot.storage;
}

const KernelTable::Known &KernelTable::check(const hbf_launch &launch) const {
    const Known *const known = launch.kernel == 0 || launch.kernel > slots_.size()
                                   ? nullptr
                                   : slots_[launch.kernel - 1].known.load(std::memory_order_acquire);
    if (!known) sdk::fail(HBF_INVALID, fmt::format("launch: {} is no kernel that this device has found", launch.kernel));
    check_buffers(launch, *known->kernel);
    check_groups(launch, *known, *loader_);
    return *known;
}

uint32_t KernelTable::most_buffers() {
    uint32_t most = 1;
    for (const device::Kernel &kernel : device::catalogue()) most = std::max(most, kernel.buffer_count);
    return std::min(most, most_launched);
}

} // namespace hbf::stream
