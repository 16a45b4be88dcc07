// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/model/outcome.hpp"

namespace hbf::model {

std::string_view to_string(Outcome outcome) noexcept {
    switch (outcome) {
    case Outcome::ok:
        return "ok";
    case Outcome::pending:
        return "pending";
    case Outcome::invalid:
        return "invalid";
    case Outcome::no_memory:
        return "no_memory";
    case Outcome::unknown_address:
        return "unknown_address";
    case Outcome::out_of_range:
        return "out_of_range";
    case Outcome::no_access:
        return "no_access";
    case Outcome::uncorrectable:
        return "uncorrectable";
    case Outcome::link_error:
        return "link_error";
    case Outcome::launch_failed:
        return "launch_failed";
    case Outcome::unsupported:
        return "unsupported";
    case Outcome::busy:
        return "busy";
    case Outcome::lost:
        return "lost";
    case Outcome::failed:
        return "failed";
    }
    return "unknown";
}

} // namespace hbf::model
