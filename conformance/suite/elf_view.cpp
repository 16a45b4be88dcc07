// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/elf_view.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

namespace hbf::conformance {
namespace {

// Every symbol that others can find is in the hash table; the last one of the fullest chain is the last of all.
uint32_t symbol_count(const uint32_t *gnu_hash) {
    const uint32_t buckets = gnu_hash[0], first = gnu_hash[1], bloom = gnu_hash[2];
    const uint32_t *const bucket = gnu_hash + 4 + bloom * 2; // words of 64 bits
    const uint32_t *const chain = bucket + buckets;
    uint32_t last = 0;
    for (uint32_t i = 0; i < buckets; ++i) last = std::max(last, bucket[i]);
    if (last < first) return 0;
    while (!(chain[last - first] & 1u)) ++last;
    return last + 1;
}

} // namespace

ElfView view_elf(void *library) {
    link_map *map = nullptr;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_ld)
        throw std::runtime_error("the dynamic linker says nothing of the plugin's library");
    const char *strings = nullptr;
    const Elf64_Sym *symbols = nullptr;
    const uint32_t *gnu_hash = nullptr, *sysv_hash = nullptr;
    ElfView view;
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
        const auto value = entry->d_un.d_val;
        switch (entry->d_tag) {
        case DT_STRTAB:
            strings = reinterpret_cast<const char *>(value);
            break;
        case DT_SYMTAB:
            symbols = reinterpret_cast<const Elf64_Sym *>(value);
            break;
        case DT_GNU_HASH:
            gnu_hash = reinterpret_cast<const uint32_t *>(value);
            break;
        case DT_HASH:
            sysv_hash = reinterpret_cast<const uint32_t *>(value);
            break;
        case DT_BIND_NOW:
            view.bind_now = true;
            break;
        case DT_FLAGS:
            view.bind_now |= (value & DF_BIND_NOW) != 0;
            break;
        case DT_FLAGS_1:
            view.bind_now |= (value & DF_1_NOW) != 0;
            break;
        default:
            break;
        }
    }
    if (!strings || !symbols || (!gnu_hash && !sysv_hash))
        throw std::runtime_error("the plugin's library has no symbol table");
    for (const ElfW(Dyn) *entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
        const char *const text = strings + entry->d_un.d_val;
        if (entry->d_tag == DT_NEEDED) view.needed.emplace_back(text);
        if (entry->d_tag == DT_RUNPATH || entry->d_tag == DT_RPATH) view.run_path = text;
    }
    const uint32_t count = gnu_hash ? symbol_count(gnu_hash) : sysv_hash[1];
    for (uint32_t i = 1; i < count; ++i) {
        const Elf64_Sym &symbol = symbols[i];
        const unsigned visibility = ELF64_ST_VISIBILITY(symbol.st_other);
        if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ||
            visibility == STV_HIDDEN || visibility == STV_INTERNAL)
            continue;
        view.exported.emplace_back(strings + symbol.st_name);
    }
    return view;
}

} // namespace hbf::conformance
