// SPDX-License-Identifier: Apache-2.0
// The shapes, and for each the mutants that say whether the harness could have seen a violation: the same shape with its
// program order turned round, its fence dropped, or one location made two, so that the asked outcome becomes allowed.
#pragma once

#include <span>
#include <string_view>

#include "conformance/litmus/shape.hpp"

namespace hbf::litmus {

// One of a shape's controls must be seen often enough, else its result is inconclusive.
struct Control {
    Shape shape;
    std::string_view mutation; // "no fence", "order turned round", ...
};

struct ShapeTest {
    Shape shape;
    std::vector<Control> controls;
};

// CoRR, CoWW, CoWR, CoRW, MP, SB, LB, S, R, 2+2W (two agents), WRC, ISA2 (three), IRIW (four).
std::span<const ShapeTest> tests();
const ShapeTest &test_of(std::string_view name); // "MP.rel.acq"; one that is not there ends the program

} // namespace hbf::litmus
