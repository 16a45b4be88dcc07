// SPDX-License-Identifier: Apache-2.0
// An instance whose tiers are small enough to be filled without harm to the machine.
#pragma once

#include <memory>

#include "conformance/suite/context.hpp"

namespace hbf::conformance {

// Made with the options that this project's plugins have for it; nullptr where the plugin knows none of them. The caller
// then uses the instance there is, whose tiers are as large as they are; `--option` of the run can make those small too.
std::unique_ptr<Instance> small_instance(Subject &subject);

// The most of one tier that a case takes, by profile.
uint64_t most_taken(const Context &context);

// The size of which `count` fill `bytes`, in whole granules.
uint64_t share_of(const hbf_tier_info &tier, uint64_t bytes, uint64_t count);

} // namespace hbf::conformance
