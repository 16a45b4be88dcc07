// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/record.hpp"

namespace hbf::conformance {

int exit_code(const RunRecord &run) {
    if (run.verdict == "conformant") return 0;
    if (run.verdict == "not conformant") return 1;
    return run.verdict == "untested" ? 77 : 3;
}

int case_exit_status(Status status) {
    switch (status) {
    case Status::pass:
    case Status::warn_quality:
    case Status::warn_capability:
        return 0;
    case Status::fail:
    case Status::device_lost:
        return 1;
    case Status::not_supported:
    case Status::not_observable:
        return 77;
    default:
        return 3;
    }
}

} // namespace hbf::conformance
