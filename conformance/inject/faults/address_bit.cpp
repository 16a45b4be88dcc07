// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/data_fault.hpp"

namespace hbf::inject {
namespace {

// Two places of a region that differ in one bit of their offset are the same place: what is written to either is read from
// both.
class AddressBit final : public DataFault {
public:
    using DataFault::DataFault;

    void change(const Hit &hit) override {
        const uint64_t half = uint64_t{1} << settings().number("bit") % 48, size = region_size(hit.written.region);
        const uint64_t end = hit.written.offset + hit.written.size;
        for (uint64_t at = hit.written.offset; at < end;) {
            const uint64_t next = std::min((at / half + 1) * half, end), alias = at ^ half;
            const uint64_t shared = alias < size ? std::min(next - at, size - alias) : 0;
            if (shared > 0) {
                const auto bytes = device().touch().read(hit.written.region, at, shared);
                if (!bytes || !device().touch().write(hit.written.region, alias, *bytes)) return;
            }
            at = next;
        }
    }
};
HBF_FAULT(AddressBit, "address-bit-ignored", "two offsets of a region that differ in one bit are one place", parameter::tier,
          {.key = "bit", .preset = "12", .line = "which of the offset's bits"});

} // namespace
} // namespace hbf::inject
