// SPDX-License-Identifier: Apache-2.0
// Loading a plugin's library: it changes nothing, needs no driver, and stays.
#include "conformance/suite/context.hpp"
#include "conformance/suite/elf_view.hpp"
#include "conformance/suite/lifecycle/driver_libraries.hpp"
#include "conformance/suite/lifecycle/load_and_tell.hpp"

namespace hbf::conformance {
namespace {

std::string line_of(const std::string &said, std::string_view word) {
    const size_t at = said.find(word);
    return at == std::string::npos ? "" : said.substr(at + word.size(), said.find('\n', at) - at - word.size());
}

Forked load_and_end(Context &context) {
    Forked loaded = load_in_new_process(context.subject().options().plugin_file);
    context.check(loaded.well(), "a process that only opened the library and ended {}{}", loaded.ending(),
                  loaded.said.empty() ? "" : ": " + loaded.said);
    return loaded;
}

HBF_CASE("lifecycle.load.changes_nothing",
         {.rules = {"HBF-LIFE-1", "HBF-LIFE-9"},
          .kills = {"m38_ctor_sigill", "load_changes_process", "load_prints", "exit_crashes", "exit_crashes_unused"}}) {
    const Forked loaded = load_and_end(context);
    context.check(line_of(loaded.said, "changed ").empty(), "opening the library changed the process: {}",
                  line_of(loaded.said, "changed "));
    context.check(loaded.printed.empty(), "the library printed {} bytes when it was opened or at exit: {}",
                  loaded.printed.size(), loaded.printed.substr(0, 200));
}

HBF_CASE("lifecycle.load.without_driver",
         {.rules = {"HBF-LIFE-2", "HBF-SEC-2"}, .kills = {"linked_to_driver", "own_search_path"}}) {
    const ElfView view = view_elf(context.subject().handle());
    for (const std::string &library : view.needed)
        context.check(
            !of_a_driver(library),
            "the plugin is linked with {}, a driver's library: where it is missing the plugin cannot even be opened",
            library);
    context.check(view.run_path.empty(), "the plugin has a library search path of its own, {}", view.run_path);
}

HBF_CASE("lifecycle.load.stays", {.rules = {"HBF-LIFE-3"}, .kills = {"can_be_unloaded", "bound_late"}}) {
    const Forked loaded = load_and_end(context);
    context.check(loaded.said.find("gone") == std::string::npos,
                  "dlclose unloaded the library: link it with -Wl,-z,nodelete");
    context.check(view_elf(context.subject().handle()).bind_now,
                  "symbols are left to be resolved at their first use: link with -Wl,-z,now");
}

} // namespace
} // namespace hbf::conformance
