// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/data_fault.hpp"

namespace hbf::inject {
namespace {

class Stuck final : public DataFault {
public:
    using DataFault::DataFault;

    void change(const Hit &hit) override {
        const uint64_t bit = settings().number("bit") % 64;
        const std::byte mask{static_cast<unsigned char>(1u << bit % 8)};
        const bool one = settings().text("value") == "1";
        edit(hit.written, [&](uint64_t offset, std::span<std::byte> bytes) {
            bool changed = false;
            for (uint64_t i = (bit / 8 - offset) % 8; i < bytes.size(); i += 8) {
                const std::byte old = bytes[i];
                bytes[i] = one ? bytes[i] | mask : bytes[i] & ~mask;
                changed |= bytes[i] != old;
            }
            return changed;
        });
    }
};
HBF_FAULT(Stuck, "stuck", "one bit of every 8-byte word that a copy or fill writes always reads the same", parameter::tier,
          {.key = "bit", .preset = "13", .line = "which of the word's 64"},
          {.key = "value", .kind = Parameter::word, .preset = "0", .line = "what it reads", .choices = {"0", "1"}});

} // namespace
} // namespace hbf::inject
