// SPDX-License-Identifier: Apache-2.0
#include "core/loader/elf_details.hpp"

#include <algorithm>
#include <optional>

#include <elf.h>

#include "core/loader/elf_dynamic.hpp"

namespace hbf::loader {
namespace {

constexpr uint64_t most_libraries = 256, most_versions = 4096;

std::optional<uint64_t> value_of(const DynamicTables &tables, int64_t tag) {
    const auto found = std::find_if(tables.entries.begin(), tables.entries.end(),
                                    [&](const Elf64_Dyn &entry) { return entry.d_tag == tag; });
    if (found == tables.entries.end()) return std::nullopt;
    return found->d_un.d_val;
}

bool has_flag(const DynamicTables &tables, int64_t tag, uint64_t flag) {
    return (value_of(tables, tag).value_or(0) & flag) != 0;
}

// A list of libraries, each with a list of the versions wanted of it.
std::vector<std::string> needed_versions(const DynamicTables &tables) {
    std::vector<std::string> out;
    uint64_t at = value_of(tables, DT_VERNEED).value_or(0);
    const uint64_t count = std::min(value_of(tables, DT_VERNEEDNUM).value_or(0), most_libraries);
    Elf64_Verneed library;
    for (uint64_t i = 0; at != 0 && i < count && tables.get(at, library); ++i, at += library.vn_next) {
        const auto name = tables.text(library.vn_file);
        Elf64_Vernaux version;
        uint64_t entry = at + library.vn_aux;
        for (uint64_t n = 0; name && n < library.vn_cnt && out.size() < most_versions && tables.get(entry, version); ++n) {
            if (const auto text = tables.text(version.vna_name)) out.push_back(*name + " " + *text);
            if (version.vna_next == 0) break;
            entry += version.vna_next;
        }
        if (library.vn_next == 0) break;
    }
    return out;
}

} // namespace

ElfDetails elf_details(const ByteSource &file) {
    ElfDetails out;
    const auto image = open_elf(file);
    if (!image) return out;
    DynamicTables tables(file, image->map);
    if (tables.read(image->dynamic)) return out;
    out.exported = tables.exported(most_exported);
    out.versions = needed_versions(tables);
    out.stays = has_flag(tables, DT_FLAGS_1, DF_1_NODELETE);
    out.binds_at_load =
        value_of(tables, DT_BIND_NOW) || has_flag(tables, DT_FLAGS, DF_BIND_NOW) || has_flag(tables, DT_FLAGS_1, DF_1_NOW);
    out.text_relocations = value_of(tables, DT_TEXTREL) || has_flag(tables, DT_FLAGS, DF_TEXTREL);
    out.executable_stack = image->executable_stack;
    return out;
}

} // namespace hbf::loader
