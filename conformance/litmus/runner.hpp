// SPDX-License-Identifier: Apache-2.0
// Who runs a shape: threads of this process, groups of a device's kernel, or both. And what all of them do with a batch of
// instances, before and after.
#pragma once

#include <string>
#include <vector>

#include "conformance/litmus/arena.hpp"
#include "conformance/litmus/histogram.hpp"

namespace hbf::litmus {

// All there is to know of one instance that broke its contract.
struct Dump {
    std::string outcome, config;
    uint64_t batch = 0;
    uint32_t instance = 0;
    uint64_t tag = 0; // stored values are this | 1, 2, ...; the words began as this
    std::vector<uint64_t> registers, finals, addresses;
};

struct Slice {
    Histogram histogram;
    uint64_t batches = 0;
    double seconds = 0;
    std::vector<Dump> dumps; // of the first violations
};

class Runner {
public:
    Runner() = default;
    virtual ~Runner() = default;
    Runner(const Runner &) = delete;
    Runner &operator=(const Runner &) = delete;

    // At least one batch, then until `seconds` have passed. What all agents of a batch ran counts.
    virtual Slice run(const Shape &shape, const Config &config, double seconds) = 0;
    virtual unsigned cpus() const = 0;   // that agents have to choose among
    virtual unsigned ranges() const = 0; // of the arena
};

inline constexpr uint32_t most_instances = 512; // of a batch
inline constexpr uint64_t value_bits = 4;       // of a word, the value's; above it the serial of the instance

// Before the batch: each word of each instance is its serial, with the value 0.
void prepare_words(const Shape &shape, const Placement &placement, uint64_t first);

// A batch that has ended.
struct Batch {
    const Shape &shape;
    const Config &config;
    const Placement &placement;
    uint64_t first;                       // serial of its first instance
    uint32_t count;                       // instances that all agents ran
    const uint64_t *results[most_agents]; // what loads saw: most_registers words an instance
};
void count_batch(const Batch &batch, Slice &slice);

} // namespace hbf::litmus
