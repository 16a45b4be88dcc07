// SPDX-License-Identifier: Apache-2.0
// What the library says of itself, asked in a process of its own, against its manifest.
#include <algorithm>

#include <fmt/format.h>

#include "conformance/runner/description.hpp"
#include "conformance/runner/programs.hpp"
#include "core/loader/bind.hpp"
#include "tools/plugin/checks.hpp"
#include "tools/plugin/settings.hpp"

namespace hbf::tools::plugin {
namespace {

std::string fact(const conformance::Facts &facts, std::string_view name) {
    const auto found = std::find_if(facts.begin(), facts.end(), [&](const auto &one) { return one.first == name; });
    return found == facts.end() ? "" : found->second;
}

void compare(const char *check, const std::string &what, const std::string &manifest, const std::string &table,
             Findings &out) {
    if (manifest == table) return out.pass(check, "HBF-ABI-16", fmt::format("{} \"{}\", as in the manifest", what, table));
    const std::string evidence = fmt::format("the manifest says {} \"{}\", the library \"{}\"", what, manifest, table);
    const char *remedy = "make both from one place, as the project of hbf plugin new does";
    if (std::string_view(check) == "table.vendor")
        out.warn(check, "HBF-ABI-16", evidence, remedy);
    else
        out.fail(check, "HBF-ABI-16", evidence, remedy);
}

void check_abi(const loader::Manifest &manifest, const std::string &abi, Findings &out) {
    unsigned major = 0, minor = 0;
    if (std::sscanf(abi.c_str(), "%u.%u", &major, &minor) != 2)
        return out.cannot_tell("table.abi", "HBF-ABI-3", fmt::format("its ABI version is \"{}\"", abi), "run this again");
    const uint32_t version = HBF_ABI_MAKE(major, minor);
    const std::string evidence = fmt::format("the library answers this core with ABI {}, the manifest says {} to {}", abi,
                                             loader::abi_text(manifest.abi_min), loader::abi_text(manifest.abi_max));
    if (version >= manifest.abi_min && version <= manifest.abi_max) return out.pass("table.abi", "HBF-ABI-3", evidence);
    out.fail("table.abi", "HBF-ABI-3", evidence, "take abi_min and abi_max from the headers it is built with");
}

// The manifest's word for it was "device" or "emulation"; judged here for the latter, where the loader takes that word.
void check_reality(const loader::Manifest &manifest, const std::string &reality, Findings &out) {
    if (!manifest.emulation || reality.empty()) return;
    if (reality == "emulated")
        return out.pass("manifest.kind", "HBF-SEL-2", "kind = \"emulation\", and its tiers say so too");
    out.fail("manifest.kind", "HBF-SEL-2", "kind = \"emulation\", and every tier says that it is real",
             "HBF_REALITY_EMULATED in device and tiers, or kind = \"device\"");
}

} // namespace

void check_table(const PluginFiles &files, const CheckOptions &options, Findings &out) {
    const auto program = conformance::case_program();
    if (!program) return out.cannot_tell("table.facts", "HBF-ABI-16", program.error(), "install the conformance suite");
    conformance::CaseProcess process;
    process.program = *program;
    process.interrupted = [&] { return options.stop && options.stop() ? 2 : 0; };
    conformance::CaseArguments arguments;
    arguments.subject.plugin_file = files.plugin_file.string();
    if (const auto config = settings_for(files); config && files.content)
        arguments.subject.options = config->plugin_options(files.content->name);
    const auto record = conformance::describe_plugin(process, arguments);
    const auto &facts = record.plugin;
    const std::string name = fact(facts, "name");
    if (name.empty())
        return out.fail("table.facts", "HBF-ABI-2", record.verdict_reason,
                        "hbf_plugin_query must answer with a table or with NULL");
    out.pass("table.facts", "HBF-ABI-16",
             fmt::format("{}, built with {}", fact(facts, "description"), fact(facts, "compiler")));
    if (const std::string tables = fact(facts, "tables"); !tables.empty())
        out.pass("table.sizes", "HBF-ABI-6", "bytes of its tables: " + tables);
    if (!files.content) {
        if (record.verdict == "conformant") return out.pass("device.opens", "HBF-LIFE-6", "opened and closed");
        return out.cannot_tell("device.opens", "HBF-LIFE-6", record.verdict_reason,
                               "give it a manifest: hbf probe then says more");
    }
    compare("table.name", "name", files.content->name, name, out);
    compare("table.version", "version", files.content->version, fact(facts, "version"), out);
    compare("table.vendor", "vendor", files.content->vendor, fact(facts, "vendor"), out);
    check_abi(*files.content, fact(facts, "abi"), out);
    check_reality(*files.content, fact(record.device, "reality"), out);
}

} // namespace hbf::tools::plugin
