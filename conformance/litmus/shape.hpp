// SPDX-License-Identifier: Apache-2.0
// A litmus shape as data: what each agent does to a few shared words, and the outcomes asked about.
//
//     {.name = "MP.rel.acq",
//      .agents = {agent<store(x, 1), store(y, 1, release)>(), agent<load(y, acquire), load(x)>()},
//      .asked = {{reg(0, 1), reg(1, 0)}}, .rule = Rule::forbidden}
//
// All words start at 0. Loads take the registers r0, r1, ... in the order they are written down, over all agents. A step is
// a template argument, so that an agent is compiled to straight-line code: nothing but the shape's own accesses (and a
// delay, when the configuration asks for one) stands between two of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/litmus/access.hpp"

namespace hbf::litmus {

enum class Op : uint8_t { load, store, fence };

struct Step {
    Op op;
    Order order;
    uint8_t location; // of load and store
    uint8_t value;    // of a store, 1 ... largest_value
};

inline constexpr uint8_t x = 0, y = 1, z = 2;
inline constexpr unsigned most_locations = 3, most_registers = 4, most_agents = 4, most_steps = 3;
inline constexpr uint8_t largest_value = 13;
inline constexpr uint8_t stale_value = 14; // decoded: of an earlier use of the same word
inline constexpr uint8_t alien_value = 15; // decoded: never stored to this word

consteval Step load(uint8_t location, Order order = Order::relaxed) {
    return {Op::load, order, location, 0};
}
consteval Step store(uint8_t location, uint8_t value, Order order = Order::relaxed) {
    return {Op::store, order, location, value};
}
consteval Step fence(Order order) {
    return {Op::fence, order, 0, 0};
}

// What an agent gets for one instance: its words, the instance's number, where its loads go, a delay before each step.
struct Turn {
    Word *const *words;    // by location
    uint64_t tag;          // a stored value is tag | value: no other instance stores it
    uint64_t *registers;   // this agent's, in order
    const uint16_t *delay; // loop turns before each step
};
using AgentCode = void (*)(const Turn &);

struct Agent {
    Step steps[most_steps];
    uint8_t count;
    AgentCode run;
};

namespace detail {
template <Step S>
inline void step(const Turn &turn, unsigned &number, unsigned &result) {
    delay(turn.delay[number++]);
    if constexpr (S.op == Op::load)
        turn.registers[result++] = load_word<S.order>(*turn.words[S.location]);
    else if constexpr (S.op == Op::store)
        store_word<S.order>(*turn.words[S.location], turn.tag | S.value);
    else
        fence_words<S.order>();
}
template <Step... S>
void run(const Turn &turn) {
    unsigned number = 0, result = 0;
    (step<S>(turn, number, result), ...);
}
} // namespace detail

template <Step... S>
consteval Agent agent() {
    static_assert(sizeof...(S) <= most_steps);
    return {{S...}, sizeof...(S), &detail::run<S...>};
}

struct Condition {
    bool final;    // the word's value after all agents ended; else a register
    uint8_t index; // register or location
    uint8_t value;
};
consteval Condition reg(uint8_t index, uint8_t value) {
    return {false, index, value};
}
consteval Condition last(uint8_t location, uint8_t value) {
    return {true, location, value};
}
using Outcome = std::vector<Condition>; // all of them hold

// What the contract (C++ on memory whose domain is declared coherent) says of the asked outcomes.
enum class Rule : uint8_t { forbidden, allowed };

struct Shape {
    std::string_view name;
    std::vector<Agent> agents;
    std::vector<Outcome> asked; // any of them
    Rule rule = Rule::forbidden;

    unsigned locations() const;
    unsigned registers() const;
    unsigned registers_of(unsigned agent) const;
};

std::string to_string(const Shape &shape);     // "x=1; y=1 rel | r0=y acq; r1=x"
std::string to_string(const Outcome &outcome); // "r0=1 r1=0 [x]=2"

} // namespace hbf::litmus
