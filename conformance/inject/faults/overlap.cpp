// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/data_fault.hpp"
#include "conformance/inject/rewrite_fault.hpp"

namespace hbf::inject {
namespace {

// Source and destination overlap: taken, and copied from the first byte to the last, so that what was written is read again.
class OverlapAsMemcpy final : public RewriteFault {
public:
    using RewriteFault::RewriteFault;

    bool rewrite(std::vector<hbf_command> &commands) override {
        bool changed = false;
        for (hbf_command &command : commands) {
            const hbf_copy copy = command.u.copy;
            if (command.kind != HBF_COMMAND_COPY || copy.dst != copy.src || copy.size == 0 || copy.size > (64 << 20))
                continue;
            const uint64_t apart =
                copy.dst_offset > copy.src_offset ? copy.dst_offset - copy.src_offset : copy.src_offset - copy.dst_offset;
            const auto region = device().regions().find(copy.dst);
            const bool inside = region && copy.size <= region->size &&
                                std::max(copy.dst_offset, copy.src_offset) <= region->size - copy.size;
            if (apart >= copy.size || !inside || !fires()) continue;
            constexpr uint64_t step = 64;
            for (uint64_t done = 0; done < copy.size; done += step) {
                const uint64_t size = std::min(step, copy.size - done);
                const auto bytes = device().touch().read(copy.src, copy.src_offset + done, size);
                if (bytes) device().touch().write(copy.dst, copy.dst_offset + done, *bytes);
            }
            make_nothing(command);
            changed = true;
        }
        return changed;
    }
};
HBF_FAULT(OverlapAsMemcpy, "overlap-as-memcpy",
          "a copy onto part of itself is done forwards, in pieces, instead of refused");

} // namespace
} // namespace hbf::inject
