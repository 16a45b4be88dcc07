// SPDX-License-Identifier: Apache-2.0
// Every outcome that some interleaving of a shape's steps has: what a machine without any reordering shows. Outcomes beyond
// these are weak behaviour; an asked outcome that the contract forbids must be one of them, and so must not be a control's
// whose program order is turned round. Keeps the tables of shapes honest.
#pragma once

#include <set>

#include "conformance/litmus/histogram.hpp"

namespace hbf::litmus {

std::set<Observed> sequential_outcomes(const Shape &shape);

} // namespace hbf::litmus
