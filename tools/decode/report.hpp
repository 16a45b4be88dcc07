// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/output/json.hpp"
#include "tools/decode/decode.hpp"

namespace hbf::tools::decode {

constexpr double most_error = 2e-6; // of exact attention in single precision, relative to the largest number

bool passed(const Outcome &outcome);
std::string report_text(const Options &options, const Outcome &outcome);
Json report_json(const Options &options, const Outcome &outcome); // hbf.bench.decode

} // namespace hbf::tools::decode
