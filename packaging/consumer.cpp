// SPDX-License-Identifier: Apache-2.0
// A program as a user of an installed libhbf writes it: the public headers alone, the flags of hbf.pc.
#include <cstdio>

#include <hbf/system.hpp>

int main() {
    std::printf("%.*s\n", static_cast<int>(hbf::version().size()), hbf::version().data());
    auto system = hbf::System::open();
    if (!system) {
        std::fprintf(stderr, "%s\n", system.error().message.c_str());
        return 3;
    }
    for (hbf::Device &device : system->devices()) std::printf("%zu tiers\n", device.tiers().size());
    return system->devices().empty() ? 1 : 0;
}
