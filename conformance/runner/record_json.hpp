// SPDX-License-Identifier: Apache-2.0
// Records as JSON, both ways, without loss: what a case's process tells the runner, and the body of the JSON report. Seeds,
// handles, addresses and data words are texts ("0x1f"): readers in JavaScript keep 53 bits of a number.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "conformance/runner/record.hpp"
#include "core/output/json.hpp"

namespace hbf::conformance {

Json to_json(const CaseRecord &record);
Json to_json(const RunRecord &record);

// A member that is missing keeps its default, one of another type is an error that names it; name and status must be there.
tl::expected<CaseRecord, std::string> case_record_from(const Json &json);
tl::expected<RunRecord, std::string> run_record_from(const Json &json); // refuses another schema_version

} // namespace hbf::conformance
