// SPDX-License-Identifier: Apache-2.0
// Lists of who may serve and who may not are not asked.
#include "conformance/mutants/guards/replaced.hpp"
#include "core/loader/policy.hpp"

namespace hbf::loader {

std::optional<Refusal> no_policy(const Policy *policy, std::string_view plugin)
    HBF_IN_PLACE_OF("_ZNK3hbf6loader6Policy9objectionESt17basic_string_viewIcSt11char_traitsIcEE");
std::optional<Refusal> no_policy(const Policy *, std::string_view) {
    return std::nullopt;
}

} // namespace hbf::loader
