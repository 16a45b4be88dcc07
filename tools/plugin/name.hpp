// SPDX-License-Identifier: Apache-2.0
// What a new plugin may be called, and what its vendor may.
#pragma once

#include <string>
#include <string_view>

namespace hbf::tools::plugin {

// "" or what is wrong with it, with the remedy.
std::string name_objection(std::string_view name);
std::string vendor_objection(std::string_view vendor);

} // namespace hbf::tools::plugin
