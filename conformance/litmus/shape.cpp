// SPDX-License-Identifier: Apache-2.0
#include "conformance/litmus/shape.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace hbf::litmus {
namespace {

constexpr const char *location_names = "xyz";

std::string_view order_text(Order order) {
    switch (order) {
    case Order::acquire:
        return " acq";
    case Order::release:
        return " rel";
    case Order::seq_cst:
        return " sc";
    case Order::streaming:
        return " stream";
    case Order::relaxed:
        break;
    }
    return "";
}

} // namespace

unsigned Shape::locations() const {
    unsigned most = 0;
    for (const Agent &agent : agents)
        for (unsigned i = 0; i < agent.count; ++i)
            if (agent.steps[i].op != Op::fence) most = std::max(most, agent.steps[i].location + 1u);
    return most;
}

unsigned Shape::registers_of(unsigned agent) const {
    const Agent &one = agents[agent];
    return static_cast<unsigned>(
        std::count_if(one.steps, one.steps + one.count, [](const Step &step) { return step.op == Op::load; }));
}

unsigned Shape::registers() const {
    unsigned sum = 0;
    for (unsigned agent = 0; agent < agents.size(); ++agent) sum += registers_of(agent);
    return sum;
}

std::string to_string(const Shape &shape) {
    std::string out;
    unsigned result = 0;
    for (const Agent &agent : shape.agents) {
        if (!out.empty()) out += " | ";
        for (unsigned i = 0; i < agent.count; ++i) {
            const Step &step = agent.steps[i];
            if (i != 0) out += "; ";
            const char name = location_names[step.location];
            if (step.op == Op::load)
                out += fmt::format("r{}={}{}", result++, name, order_text(step.order));
            else if (step.op == Op::store)
                out += fmt::format("{}={}{}", name, step.value, order_text(step.order));
            else
                out += fmt::format("fence{}", order_text(step.order));
        }
    }
    return out;
}

std::string to_string(const Outcome &outcome) {
    std::string out;
    for (const Condition &condition : outcome) {
        if (!out.empty()) out += ' ';
        out += condition.final ? fmt::format("[{}]={}", location_names[condition.index], condition.value)
                               : fmt::format("r{}={}", condition.index, condition.value);
    }
    return out;
}

} // namespace hbf::litmus
