// SPDX-License-Identifier: Apache-2.0
// Test results as lines of JSON in the form of the Open Compute Project: "Test & Validation" output specification 2.0
// (github.com/opencomputeproject/ocp-diag-core, json_spec). Each artifact is a line with its number.
#pragma once

#include <string>
#include <string_view>

#include "core/output/json.hpp"

namespace hbf {

class OcpLines {
public:
    // `time`: RFC 3339, of every line: what is written after a run says when the run began.
    explicit OcpLines(std::string time);
    void artifact(const char *kind, Json body);
    void run(const char *kind, Json body);
    void step(size_t id, const char *kind, Json body);
    std::string take() { return std::move(out_); }

private:
    std::string time_, out_;
    int next_ = 0;
};

Json ocp_validator(std::string_view type, std::string_view name, Json value);

} // namespace hbf
