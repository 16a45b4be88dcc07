// SPDX-License-Identifier: Apache-2.0
// What the plugin's file shows to others.
#include <dlfcn.h>

#include "conformance/suite/context.hpp"
#include "conformance/suite/elf_view.hpp"

namespace hbf::conformance {
namespace {

HBF_CASE("abi.exports.only_entry_symbol", {.rules = {"HBF-ABI-1"}, .kills = {"m46_extra_export"}}) {
    const ElfView view = view_elf(context.subject().library());
    for (const std::string &name : view.exported)
        context.check(name == HBF_PLUGIN_QUERY_SYMBOL,
                      "the library also exports {}: link it with a version script that keeps all but {} local", name,
                      HBF_PLUGIN_QUERY_SYMBOL);
    context.check(view.exported.size() == 1, "the library exports {} symbols, where {} alone is due", view.exported.size(),
                  HBF_PLUGIN_QUERY_SYMBOL);
}

} // namespace
} // namespace hbf::conformance
