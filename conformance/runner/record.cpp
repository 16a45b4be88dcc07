// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/record.hpp"

namespace hbf::conformance {

int exit_code(const RunRecord &run) {
    if (run.verdict == "conformant") return 0;
    if (run.verdict == "not conformant") return 1;
    return run.verdict == "untested" ? 77 : 3;
}

} // namespace hbf::conformance
