// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/report.hpp"
#include "conformance/runner/record_json.hpp"

namespace hbf::conformance {

std::string report_json(const RunRecord &run) {
    return to_json(run).dump();
}

} // namespace hbf::conformance
