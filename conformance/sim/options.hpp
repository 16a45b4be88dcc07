// SPDX-License-Identifier: Apache-2.0
// What can be set on the simulated device: `sim.` options of probe and create.
#pragma once

#include <cstdint>
#include <string>

#include "hbf/sdk/plugin.hpp"

namespace hbf::sim {

struct SimOptions {
    uint64_t seed = 1;    // sim.seed: of every choice of order
    uint32_t engines = 2; // sim.engines: copy engines, a thread each; 0: scripted (engine.hpp)
    uint64_t vram = 64 << 20, hbf = 128 << 20, cold = uint64_t{24} << 30; // sim.vram, sim.hbf, sim.cold: bytes
    std::string folder;     // sim.persist: absolute path of an existing folder for named regions; "": there are none
    uint64_t fail_copy = 0; // sim.fail: the n-th copy of the instance meets an uncorrectable error; 0: none
};

// Throws INVALID, naming the option and the nearest known one, or what its value should be.
SimOptions parse_options(const sdk::Options &options);

} // namespace hbf::sim
