// SPDX-License-Identifier: Apache-2.0
// How a shape is run: what of it decides whether weak behaviour is seen differs between machines by orders of magnitude, so
// configurations are drawn at random and the ones that show a control most often are kept.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/litmus/random.hpp"
#include "conformance/litmus/shape.hpp"

namespace hbf::litmus {

enum class Meeting : uint8_t {
    each,  // agents meet before every instance: works also where they seldom run together
    batch, // they meet once a batch: far more instances a second where they do
};
enum class Layout : uint8_t { same_line, adjacent_lines, apart };
enum class Preload : uint8_t { none, hot, flushed }; // what each agent does with its words before the batch

struct Config {
    Meeting meeting = Meeting::each;
    Layout layout = Layout::apart;
    uint32_t stride = 128; // bytes from one instance's words to the next one's
    uint32_t shift = 0;    // bytes from the stride's start, a multiple of 8
    Preload preload = Preload::none;
    uint16_t most_delay = 0;            // loop turns before a step, drawn anew for each instance
    bool pinned = true;                 // agents on a CPU each
    uint8_t first_cpu = 0;              // agents' places are turned by so many CPUs
    uint8_t stressors = 0;              // threads that keep the memory busy on CPUs that no agent needs
    uint8_t range[most_locations] = {}; // which of the arena's ranges (tiers) each location lies in
    uint64_t seed = 1;                  // of permutations and delays
};

// `agents` of `cpus` are needed; `ranges` the arena has.
Config draw_config(Random &random, unsigned agents, unsigned cpus, unsigned ranges);
std::string to_string(const Config &config); // "each, apart, stride 128+0, hot, delay 200, pinned+0, stress 0, range 0 0 0"
uint32_t hash_of(const Config &config);      // names it in reports

} // namespace hbf::litmus
