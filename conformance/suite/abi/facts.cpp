// SPDX-License-Identifier: Apache-2.0
// The base table says what this build is.
#include <filesystem>
#include <stdexcept>

#include "conformance/suite/context.hpp"
#include "core/common/read_file.hpp"
#include "core/loader/bind.hpp"
#include "core/loader/elf.hpp"
#include "core/loader/manifest.hpp"

namespace hbf::conformance {
namespace {

namespace fs = std::filesystem;

bool is_line(std::string_view text) {
    for (const char c : text)
        if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') return false;
    return true;
}

HBF_CASE("abi.facts.true",
         {.rules = {"HBF-ABI-16"},
          .kills = {"facts_two_lines", "facts_no_version", "facts_flags", "facts_null", "facts_no_compiler",
                    "facts_bad_name", "facts_other_manifest", "facts_hide_sanitizer"}}) {
    const hbf_plugin &table = context.subject().plugin();
    const fs::path library = context.subject().options().plugin_file;
    const struct {
        const char *what, *text;
    } texts[] = {{"name", table.name},         {"vendor", table.vendor},
                 {"version", table.version},   {"description", table.description},
                 {"compiler", table.compiler}, {"build_id", table.build_id}};
    for (const auto &[what, text] : texts) {
        context.check(is_line(text), "{} of the base table is not one line of text", what);
    }
    context.check(loader::is_plugin_name(table.name), "the name \"{}\" is not [a-z][a-z0-9_-]{{0,63}}", table.name);
    context.check(*table.version && std::string_view("0123456789").find(*table.version) != std::string_view::npos,
                  "the version \"{}\" does not start with a number: versions could not be ranked", table.version);
    context.check(*table.vendor && *table.compiler, "vendor or compiler is empty");
    context.check(table.flags == 0, "flags is {:#x}, and this version of the ABI knows none", table.flags);

    // The file is asked, not the table.
    const auto file = read_file(library, uint64_t{1} << 30);
    if (!file) throw std::runtime_error(file.error().message); // it is open: this is no fault of the plugin
    const auto facts = loader::examine_elf(loader::MemoryBytes(*file), HBF_PLUGIN_QUERY_SYMBOL);
    context.check(table.sanitizer == facts.sanitizer, "the table says sanitizer {}, the file was built with {}",
                  loader::sanitizer_name(table.sanitizer), loader::sanitizer_name(facts.sanitizer));

    bool found = false;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(library.parent_path(), error)) {
        if (!entry.path().string().ends_with(".plugin.toml")) continue;
        const auto manifest = loader::read_manifest(entry.path());
        if (!manifest || library.parent_path() / manifest->plugin_file != library) continue;
        found = true;
        context.check(manifest->name == table.name && manifest->version == table.version,
                      "the manifest {} says {} {}, the table {} {}", entry.path().string(), manifest->name,
                      manifest->version, table.name, table.version);
    }
    if (!found) context.note("no manifest beside the library speaks for it: its name was compared with nothing");
}

} // namespace
} // namespace hbf::conformance
