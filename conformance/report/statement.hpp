// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

namespace hbf::conformance {

// What a statement leaves out of what people have to say: "company", "product", "contact". The error has file, line, column.
tl::expected<std::vector<std::string>, std::string> statement_gaps(const std::string &text);

} // namespace hbf::conformance
