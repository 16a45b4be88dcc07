// SPDX-License-Identifier: Apache-2.0
#include "conformance/litmus/sequential.hpp"

namespace hbf::litmus {
namespace {

struct State {
    std::array<uint8_t, most_agents> next{};      // step of each agent
    std::array<uint8_t, most_agents> registers{}; // next register of each agent
    Observed observed{};                          // finals: the memory so far
};

void explore(const Shape &shape, const State &state, std::set<Observed> &out) {
    bool ended = true;
    for (unsigned agent = 0; agent < shape.agents.size(); ++agent) {
        const Agent &code = shape.agents[agent];
        if (state.next[agent] == code.count) continue;
        ended = false;
        State then = state;
        const Step &step = code.steps[then.next[agent]++];
        if (step.op == Op::store) then.observed.finals[step.location] = step.value;
        if (step.op == Op::load) then.observed.registers[then.registers[agent]++] = then.observed.finals[step.location];
        explore(shape, then, out);
    }
    if (ended) out.insert(state.observed);
}

} // namespace

std::set<Observed> sequential_outcomes(const Shape &shape) {
    State start;
    uint8_t first = 0;
    for (unsigned agent = 0; agent < shape.agents.size(); ++agent) {
        start.registers[agent] = first;
        first = static_cast<uint8_t>(first + shape.registers_of(agent));
    }
    std::set<Observed> out;
    explore(shape, start, out);
    return out;
}

} // namespace hbf::litmus
