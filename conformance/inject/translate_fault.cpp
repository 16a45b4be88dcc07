// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/translate_fault.hpp"

#include "conformance/inject/launch.hpp"

namespace hbf::inject {

void TranslateFault::let_mean(hbf_region handle, const Meaning &meaning) {
    std::lock_guard lock(mutex_);
    meanings_[handle] = meaning;
}

std::optional<TranslateFault::Meaning> TranslateFault::meaning(hbf_region handle) const {
    std::lock_guard lock(mutex_);
    const auto found = meanings_.find(handle);
    return found == meanings_.end() ? std::nullopt : std::optional(found->second);
}

hbf_status TranslateFault::free(hbf_region region, hbf_error *e) {
    const auto meant = meaning(region);
    const hbf_status status = below_->free(meant ? meant->region : region, e);
    if (status != HBF_OK) return status;
    {
        std::lock_guard lock(mutex_);
        meanings_.erase(region);
        std::erase_if(meanings_, [&](const auto &one) { return one.second.bytes == region; });
    }
    freed(region);
    return status;
}

hbf_status TranslateFault::export_region(hbf_region region, void *handle, uint64_t *size, hbf_error *e) {
    const auto meant = meaning(region);
    return below_->export_region(meant ? meant->region : region, handle, size, e);
}

bool TranslateFault::rewrite(std::vector<hbf_command> &commands) {
    bool changed = false;
    const auto place = [&](hbf_region &region, uint64_t &offset) {
        const auto meant = meaning(region);
        if (!meant) return;
        region = meant->bytes;
        offset += meant->shift;
        changed = true;
    };
    for (hbf_command &command : commands) {
        if (command.kind == HBF_COMMAND_COPY) {
            place(command.u.copy.dst, command.u.copy.dst_offset);
            place(command.u.copy.src, command.u.copy.src_offset);
        } else if (command.kind == HBF_COMMAND_FILL) {
            place(command.u.fill.dst, command.u.fill.dst_offset);
        } else if (command.kind == HBF_COMMAND_FLUSH || command.kind == HBF_COMMAND_INVALIDATE) {
            place(command.u.range.region, command.u.range.offset);
        } else if (command.kind == HBF_COMMAND_LAUNCH && readable(command.u.launch)) {
            for (hbf_kernel_buffer &buffer : buffers_of(command.u.launch)) place(buffer.region, buffer.offset);
        }
    }
    return changed;
}

} // namespace hbf::inject
