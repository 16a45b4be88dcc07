// SPDX-License-Identifier: Apache-2.0
// CPU litmus shapes on a plugin's mapped memory.
#pragma once

#include <functional>
#include <string_view>

#include "conformance/litmus/campaign.hpp"
#include "conformance/suite/coherence/scene.hpp"

namespace hbf::conformance::coherence {

// Ends the case as not observable where fewer CPUs than agents may run at the same time.
void need_agents(Context &context, unsigned agents, std::string_view for_what);

// The shape of this name and its controls, on all tiers that are declared coherent between CPUs, for the case's time.
void run_shape(Context &context, std::string_view name);

// The verdict on a shape that was run; `find` says where a word's address lies.
using FindPlace = std::function<Place(uint64_t address)>;
void judge_shape(Context &context, const litmus::Report &report, const FindPlace &find);

// Longest that controls are waited for on a busy machine.
double patience_s(const Context &context);

Series outcomes_of(const litmus::Shape &shape, const litmus::Histogram &histogram);

} // namespace hbf::conformance::coherence
