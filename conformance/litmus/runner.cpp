// SPDX-License-Identifier: Apache-2.0
#include "conformance/litmus/runner.hpp"

#include "conformance/litmus/access.hpp"

namespace hbf::litmus {
namespace {

constexpr size_t most_dumps = 3;
constexpr uint64_t value_mask = (1u << value_bits) - 1;

uint8_t decode(uint64_t word, uint64_t serial, uint64_t first) {
    if (word >> value_bits == serial && (word & value_mask) <= largest_value) return static_cast<uint8_t>(word & value_mask);
    return word != 0 && word >> value_bits < first ? stale_value : alien_value;
}

} // namespace

void prepare_words(const Shape &shape, const Placement &placement, uint64_t first) {
    for (unsigned location = 0; location < shape.locations(); ++location)
        for (uint32_t i = 0; i < placement.instances(); ++i)
            store_word<Order::relaxed>(*placement.word(location, i), (first + i) << value_bits);
}

void count_batch(const Batch &batch, Slice &slice) {
    const Shape &shape = batch.shape;
    const uint64_t first = batch.first;
    const unsigned locations = shape.locations();
    const auto result_of = [&](unsigned agent, uint32_t instance, unsigned own) {
        return batch.results[agent][uint64_t{instance} * most_registers + own];
    };
    for (uint32_t i = 0; i < batch.count; ++i) {
        Observed seen;
        unsigned result = 0;
        for (unsigned agent = 0; agent < shape.agents.size(); ++agent)
            for (unsigned own = 0; own < shape.registers_of(agent); ++own)
                seen.registers[result++] = decode(result_of(agent, i, own), first + i, first);
        uint64_t finals[most_locations] = {};
        for (unsigned location = 0; location < locations; ++location) {
            finals[location] = load_word<Order::relaxed>(*batch.placement.word(location, i));
            seen.finals[location] = decode(finals[location], first + i, first);
        }
        slice.histogram.add(seen);
        if (!violates(shape, seen) || slice.dumps.size() >= most_dumps) continue;
        Dump dump{to_string(shape, seen), to_string(batch.config), slice.batches, i, (first + i) << value_bits, {}, {}, {}};
        for (unsigned agent = 0; agent < shape.agents.size(); ++agent)
            for (unsigned own = 0; own < shape.registers_of(agent); ++own)
                dump.registers.push_back(result_of(agent, i, own));
        for (unsigned location = 0; location < locations; ++location) {
            dump.finals.push_back(finals[location]);
            dump.addresses.push_back(reinterpret_cast<uintptr_t>(batch.placement.word(location, i)));
        }
        slice.dumps.push_back(std::move(dump));
    }
}

} // namespace hbf::litmus
