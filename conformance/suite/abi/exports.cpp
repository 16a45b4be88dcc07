// SPDX-License-Identifier: Apache-2.0
// What the plugin's file shows to others.
#include <string>
#include <vector>

#include "conformance/suite/context.hpp"
#include "conformance/suite/elf_view.hpp"

namespace hbf::conformance {
namespace {

HBF_CASE("abi.exports.only_entry_symbol", {.rules = {"HBF-ABI-1"}, .kills = {"m46_extra_export"}}) {
    const ElfView view = view_elf(context.subject().handle());
    std::vector<std::string> others = view.exported;
    std::erase(others, HBF_PLUGIN_QUERY_SYMBOL); // Subject called it
    context.check(others.empty(), "the library also exports {}: link it with a version script that keeps all but {} local",
                  fmt::join(others, ", "), HBF_PLUGIN_QUERY_SYMBOL);
}

} // namespace
} // namespace hbf::conformance
