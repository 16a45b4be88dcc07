// SPDX-License-Identifier: Apache-2.0
// What a device can launch, and the launch of it: checked against what the kernel said it takes, its memory pinned.
#include <algorithm>

#include <fmt/format.h>

#include "core/common/declared.hpp"
#include "core/common/printable.hpp"
#include "core/fabric/auxiliary.hpp"
#include "core/fabric/queue_core.hpp"
#include "core/fabric/tables.hpp"

namespace hbf::fabric {

Result<std::vector<std::string>> DeviceCore::kernel_names() const {
    std::vector<std::string> names;
    for (uint32_t i = 0; kernels_ext != nullptr && i < kernels_ext->kernel_count; ++i) {
        hbf_string text{nullptr, 0};
        AbiError error;
        const hbf_status status = kernels_ext->name(instance, i, &text, error.out());
        if (status != HBF_OK)
            return tl::unexpected(error.to_error(status, fmt::format("{}: name of kernel {}", label(), i)));
        if (text.data == nullptr || text.size == 0)
            return fail(Code::internal, fmt::format("{}: kernel {} has no name", label(), i));
        names.push_back(printable({text.data, text.size}));
    }
    return names;
}

Result<KernelInfo> DeviceCore::find_kernel(std::string_view wanted) const {
    if (kernels_ext == nullptr || (queue_info.capabilities & HBF_QUEUE_CAP_LAUNCH) == 0)
        return fail(Code::unsupported, fmt::format("{} launches no kernels, so it has no {}", label(), printable(wanted)));
    hbf_kernel_info raw{};
    raw.struct_size = sizeof(raw);
    raw.concurrent_groups = 1;
    AbiError error;
    const hbf_status status = kernels_ext->find(instance, {wanted.data(), wanted.size()}, &raw, error.out());
    if (status != HBF_OK)
        return tl::unexpected(error.to_error(status, fmt::format("{}: kernel {}", label(), printable(wanted))));
    if (raw.kernel == 0 || raw.max_group_size == 0)
        return fail(Code::internal, fmt::format("{}: kernel {} is found with id {} and groups of {}", label(),
                                                printable(wanted), raw.kernel, raw.max_group_size));
    return KernelInfo{{number, raw.buffer_count, raw.kernel, raw.arguments_size, raw.max_group_size},
                      std::max(raw.concurrent_groups, 1u),
                      shown_text(raw.name),
                      shown_text(raw.origin)};
}

Result<> QueueCore::prepare_launch(Entry &entry, Op &op, const Command &command, std::span<const KernelBuffer> buffers) {
    const Kernel &kernel = command.kernel;
    if (!kernel) return fail(Code::invalid, "no kernel");
    if (kernel.device != device_->number) {
        const auto owner = find_device(kernel.device);
        return fail(Code::invalid,
                    fmt::format("a kernel of {} cannot run on {}",
                                owner ? owner->label() : fmt::format("device {}, which is closed", kernel.device),
                                device_->label()));
    }
    if (buffers.size() != kernel.buffer_count)
        return fail(Code::invalid, fmt::format("{} buffers, the kernel takes {}", buffers.size(), kernel.buffer_count));
    if (command.arguments_size != kernel.arguments_size)
        return fail(Code::invalid, fmt::format("{} bytes of arguments, the kernel takes {}", command.arguments_size,
                                               kernel.arguments_size));
    uint64_t items = 1;
    for (int i = 0; i < 3; ++i) {
        if (command.groups[i] == 0 || command.group_size[i] == 0)
            return fail(Code::invalid, "a launch of no groups, or of groups of no work-items");
        items = std::min<uint64_t>(items * command.group_size[i], 1ull << 32); // three factors can pass 64 bits
    }
    if (items > kernel.max_group_size)
        return fail(Code::invalid,
                    fmt::format("groups of {} x {} x {} work-items, the kernel takes {} at most", command.group_size[0],
                                command.group_size[1], command.group_size[2], kernel.max_group_size));

    op.pattern = kernel.id;
    op.arguments_begin = command.arguments_begin;
    op.arguments_size = command.arguments_size;
    std::copy(std::begin(command.groups), std::end(command.groups), op.groups);
    std::copy(std::begin(command.group_size), std::end(command.group_size), op.group_size);
    op.buffers_begin = static_cast<uint32_t>(entry.data.buffers.size());
    for (const KernelBuffer &buffer : buffers) {
        if (auto done = pin_buffer(entry, buffer); !done) {
            done.error().message = fmt::format("buffer {}: {}", op.buffer_count, done.error().message);
            return done;
        }
        ++op.buffer_count;
    }
    // It goes to the device in one piece, with the flushes and invalidates of its buffers.
    const uint32_t commands = std::min(device_->queue_info.max_commands, Auxiliary::most_commands);
    if (const uint32_t more = coherence_commands(op, entry.data); more != 0 && 1 + more + commands_per_run > commands)
        return fail(Code::unsupported,
                    fmt::format("{} flushes and invalidates around one launch, {} takes {} commands at once", more,
                                device_->label(), commands));
    return {};
}

Result<> QueueCore::pin_buffer(Entry &entry, const KernelBuffer &buffer) {
    if (buffer.region.generation != 0 && buffer.region.device != device_->number) {
        const auto owner = find_device(buffer.region.device);
        return fail(
            Code::invalid,
            fmt::format("its memory is of {}; a kernel of {} reaches memory of its own device only: copy it there first",
                        owner ? owner->label() : fmt::format("device {}, which is closed", buffer.region.device),
                        device_->label()));
    }
    if (buffer.offset % 8 != 0)
        return fail(Code::invalid, fmt::format("it starts at {}, which is no multiple of 8 bytes", buffer.offset),
                    buffer.offset);
    if (buffer.access == 0 || (buffer.access & ~(kernel_reads | kernel_writes)) != 0)
        return fail(Code::invalid, fmt::format("access {:#x}: it is read, written or both", buffer.access));
    DeviceCore *owner = nullptr;
    auto slot = pin(entry, buffer.region, buffer.offset, buffer.size, &owner);
    if (!slot) return tl::unexpected(slot.error());
    // Room was made for all of them before.
    entry.data.buffers.push_back({(*slot)->handle, buffer.offset, buffer.size, buffer.access, 0});
    entry.data.slots.push_back(*slot);
    if (!(*slot)->kernel_access)
        return fail(Code::invalid, fmt::format("kernels do not reach {}", (*slot)->name), buffer.offset, (*slot)->name);
    return {};
}

} // namespace hbf::fabric
