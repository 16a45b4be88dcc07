// SPDX-License-Identifier: Apache-2.0
#include "conformance/litmus/shapes.hpp"

#include <cstdlib>

namespace hbf::litmus {
namespace {

constexpr Order acq = Order::acquire, rel = Order::release, sc = Order::seq_cst, nt = Order::streaming;
constexpr std::string_view turned = "order turned round", unfenced = "no fence",
                           streamed = "streaming store without its fence";

// On x86 loads are not taken out of order and stores leave in order: only a streaming store, or a load before an earlier
// store, shows weakness there. On Arm the streaming form is a relaxed store, which is weak enough.
std::vector<ShapeTest> make_tests() {
    const Control mp_stream{{"MP.stream",
                             {agent<store(x, 1, nt), store(y, 1)>(), agent<load(y), load(x)>()},
                             {{reg(0, 1), reg(1, 0)}},
                             Rule::allowed},
                            streamed};
    const Control mp_turned{{"MP.turned",
                             {agent<store(y, 1), store(x, 1)>(), agent<load(y), load(x)>()},
                             {{reg(0, 1), reg(1, 0)}},
                             Rule::allowed},
                            turned};
    const Control sb{
        {"SB", {agent<store(x, 1), load(y)>(), agent<store(y, 1), load(x)>()}, {{reg(0, 0), reg(1, 0)}}, Rule::allowed},
        unfenced};
    const Control sb_turned{{"SB.turned",
                             {agent<load(y), store(x, 1)>(), agent<load(x), store(y, 1)>()},
                             {{reg(0, 0), reg(1, 0)}},
                             Rule::allowed},
                            turned};
    return {
        // One location has one order for everyone.
        {{"CoRR", {agent<store(x, 1)>(), agent<load(x), load(x)>()}, {{reg(0, 1), reg(1, 0)}}},
         {{{"CoRR.turned", {agent<store(x, 1)>(), agent<load(x), load(x)>()}, {{reg(0, 0), reg(1, 1)}}, Rule::allowed},
           turned},
          {{"CoRR.two",
            {agent<store(x, 1, nt), store(y, 1)>(), agent<load(y), load(x)>()},
            {{reg(0, 1), reg(1, 0)}},
            Rule::allowed},
           "two locations for one"}}},
        {{"CoWW", {agent<store(x, 1), store(x, 2)>(), agent<load(x)>()}, {{last(x, 1)}, {last(x, 0)}}},
         {{{"CoWW.turned", {agent<store(x, 2), store(x, 1)>(), agent<load(x)>()}, {{last(x, 1)}}, Rule::allowed}, turned}}},
        {{"CoWR", {agent<store(x, 1), load(x)>(), agent<store(x, 2)>()}, {{reg(0, 0)}, {reg(0, 2), last(x, 1)}}},
         {{{"CoWR.turned", {agent<load(x), store(x, 1)>(), agent<store(x, 2)>()}, {{reg(0, 2), last(x, 1)}}, Rule::allowed},
           turned}}},
        {{"CoRW", {agent<load(x), store(x, 1)>(), agent<store(x, 2)>()}, {{reg(0, 1)}, {reg(0, 2), last(x, 2)}}},
         {{{"CoRW.turned", {agent<store(x, 1), load(x)>(), agent<store(x, 2)>()}, {{reg(0, 2), last(x, 2)}}, Rule::allowed},
           turned}}},
        // Message passing: who sees the flag sees the payload.
        {{"MP.rel.acq", {agent<store(x, 1), store(y, 1, rel)>(), agent<load(y, acq), load(x)>()}, {{reg(0, 1), reg(1, 0)}}},
         {mp_stream, mp_turned}},
        {{"MP.stream.fence",
          {agent<store(x, 1, nt), fence(nt), store(y, 1, rel)>(), agent<load(y, acq), load(x)>()},
          {{reg(0, 1), reg(1, 0)}}},
         {mp_stream, mp_turned}},
        // Store buffering: Dekker's entry.
        {{"SB.sc", {agent<store(x, 1, sc), load(y, sc)>(), agent<store(y, 1, sc), load(x, sc)>()}, {{reg(0, 0), reg(1, 0)}}},
         {sb, sb_turned}},
        {{"SB.fence",
          {agent<store(x, 1), fence(sc), load(y)>(), agent<store(y, 1), fence(sc), load(x)>()},
          {{reg(0, 0), reg(1, 0)}}},
         {sb, sb_turned}},
        // Load buffering: nobody reads what is only written because of it.
        {{"LB.acq.rel",
          {agent<load(x, acq), store(y, 1, rel)>(), agent<load(y, acq), store(x, 1, rel)>()},
          {{reg(0, 1), reg(1, 1)}}},
         {{{"LB.turned",
            {agent<store(y, 1), load(x)>(), agent<store(x, 1), load(y)>()},
            {{reg(0, 1), reg(1, 1)}},
            Rule::allowed},
           turned},
          {{"LB.half",
            {agent<store(y, 1), load(x)>(), agent<load(y), store(x, 1)>()},
            {{reg(0, 1), reg(1, 1)}},
            Rule::allowed},
           turned}}},
        // The order of writes.
        {{"S.rel.acq",
          {agent<store(x, 2), store(y, 1, rel)>(), agent<load(y, acq), store(x, 1)>()},
          {{reg(0, 1), last(x, 2)}}},
         {{{"S.turned",
            {agent<store(y, 1), store(x, 2)>(), agent<load(y), store(x, 1)>()},
            {{reg(0, 1), last(x, 2)}},
            Rule::allowed},
           turned},
          {{"S.stream",
            {agent<store(x, 2, nt), store(y, 1)>(), agent<load(y), store(x, 1)>()},
            {{reg(0, 1), last(x, 2)}},
            Rule::allowed},
           streamed}}},
        {{"R.sc",
          {agent<store(x, 1, sc), store(y, 1, sc)>(), agent<store(y, 2, sc), load(x, sc)>()},
          {{reg(0, 0), last(y, 2)}}},
         {{{"R",
            {agent<store(x, 1), store(y, 1)>(), agent<store(y, 2), load(x)>()},
            {{reg(0, 0), last(y, 2)}},
            Rule::allowed},
           unfenced},
          {{"R.turned",
            {agent<store(y, 1), store(x, 1)>(), agent<store(y, 2), load(x)>()},
            {{reg(0, 0), last(y, 2)}},
            Rule::allowed},
           turned}}},
        {{"2+2W.sc",
          {agent<store(x, 1, sc), store(y, 2, sc)>(), agent<store(y, 1, sc), store(x, 2, sc)>()},
          {{last(x, 1), last(y, 1)}}},
         {{{"2+2W.stream",
            {agent<store(x, 1, nt), store(y, 2)>(), agent<store(y, 1, nt), store(x, 2)>()},
            {{last(x, 1), last(y, 1)}},
            Rule::allowed},
           streamed},
          {{"2+2W.turned",
            {agent<store(y, 2), store(x, 1)>(), agent<store(x, 2), store(y, 1)>()},
            {{last(x, 1), last(y, 1)}},
            Rule::allowed},
           turned}}},
        // Three agents: what one has seen, the next one sees too.
        {{"WRC.rel.acq",
          {agent<store(x, 1)>(), agent<load(x), store(y, 1, rel)>(), agent<load(y, acq), load(x)>()},
          {{reg(0, 1), reg(1, 1), reg(2, 0)}}},
         {{{"WRC.turned",
            {agent<store(x, 1)>(), agent<store(y, 1), load(x)>(), agent<load(y), load(x)>()},
            {{reg(0, 1), reg(1, 1), reg(2, 0)}},
            Rule::allowed},
           turned}}},
        {{"ISA2.rel.acq",
          {agent<store(x, 1), store(y, 1, rel)>(), agent<load(y, acq), store(z, 1, rel)>(), agent<load(z, acq), load(x)>()},
          {{reg(0, 1), reg(1, 1), reg(2, 0)}}},
         {{{"ISA2.stream",
            {agent<store(x, 1, nt), store(y, 1)>(), agent<load(y), store(z, 1)>(), agent<load(z), load(x)>()},
            {{reg(0, 1), reg(1, 1), reg(2, 0)}},
            Rule::allowed},
           streamed},
          {{"ISA2.turned",
            {agent<store(y, 1), store(x, 1)>(), agent<load(y), store(z, 1)>(), agent<load(z), load(x)>()},
            {{reg(0, 1), reg(1, 1), reg(2, 0)}},
            Rule::allowed},
           turned}}},
        // Four: two readers agree on the order of two independent writes.
        {{"IRIW.sc",
          {agent<store(x, 1, sc)>(), agent<store(y, 1, sc)>(), agent<load(x, sc), load(y, sc)>(),
           agent<load(y, sc), load(x, sc)>()},
          {{reg(0, 1), reg(1, 0), reg(2, 1), reg(3, 0)}}},
         {{{"IRIW.turned",
            {agent<store(x, 1)>(), agent<store(y, 1)>(), agent<load(y), load(x)>(), agent<load(x), load(y)>()},
            {{reg(0, 0), reg(1, 1), reg(2, 0), reg(3, 1)}},
            Rule::allowed},
           turned}}},
    };
}

} // namespace

std::span<const ShapeTest> tests() {
    static const std::vector<ShapeTest> all = make_tests();
    return all;
}

const ShapeTest &test_of(std::string_view name) {
    for (const ShapeTest &test : tests())
        if (test.shape.name == name) return test;
    std::abort();
}

} // namespace hbf::litmus
