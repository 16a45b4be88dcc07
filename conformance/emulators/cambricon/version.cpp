// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/cambricon/version.hpp"

#include <cstdio>
#include <string>

#include "conformance/sim/model/machine.hpp"

namespace hbf::emulated {

Version cambricon_version(const char *key, const char *otherwise) noexcept {
    Version out{0, 0, 0};
    std::string text = otherwise;
    if (model::Machine *const machine = model::machine()) {
        const model::Faults &faults = machine->faults();
        if (faults.on(model::Fault::garbage_version, -1)) return {-17, 1 << 30, 3};
        if (faults.on(model::Fault::old_driver, -1))
            return {static_cast<int>(faults.value(model::Fault::old_driver, 5)), 10, 2};
        text = machine->profile().vendor_text("cambricon", key, otherwise);
    }
    (void)std::sscanf(text.c_str(), "%d.%d.%d", &out.major, &out.minor, &out.patch);
    return out;
}

} // namespace hbf::emulated
