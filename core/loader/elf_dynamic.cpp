// SPDX-License-Identifier: Apache-2.0
#include "core/loader/elf_dynamic.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace hbf::loader {
namespace {

// Far above any real library, and small enough that a corrupt count costs little.
constexpr uint64_t most_entries = 4096, most_needed = 256, most_chain = 1u << 20, most_undefined = 1u << 16;
constexpr uint64_t longest_name = 4096, longest_path = 65536;

uint32_t gnu_hash_of(std::string_view name) {
    uint32_t hash = 5381;
    for (const char c : name) hash = hash * 33 + static_cast<unsigned char>(c);
    return hash;
}

uint32_t sysv_hash_of(std::string_view name) {
    uint32_t hash = 0;
    for (const char c : name) {
        hash = (hash << 4) + static_cast<unsigned char>(c);
        const uint32_t high = hash & 0xf0000000u;
        hash = (hash ^ (high >> 24)) & ~high;
    }
    return hash;
}

struct GnuHashHeader {
    uint32_t buckets, first_symbol, bloom_words, bloom_shift;
};

// Defined here and visible to dlsym.
bool is_exported(const Elf64_Sym &symbol) {
    const unsigned bind = ELF64_ST_BIND(symbol.st_info), visibility = ELF64_ST_VISIBILITY(symbol.st_other);
    const bool visible = visibility == STV_DEFAULT || visibility == STV_PROTECTED;
    return symbol.st_shndx != SHN_UNDEF && (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE) && visible;
}

} // namespace

bool AddressMap::add(uint64_t address, uint64_t offset, uint64_t size) {
    uint64_t end = 0;
    if (__builtin_add_overflow(address, size, &end)) return false;
    parts_.push_back({address, offset, size});
    return true;
}

std::optional<uint64_t> AddressMap::offset(uint64_t address, uint64_t size) const {
    for (const Part &part : parts_) {
        if (address < part.address) continue;
        const uint64_t into = address - part.address;
        if (into <= part.size && size <= part.size - into) return part.offset + into;
    }
    return std::nullopt;
}

std::optional<std::string> DynamicTables::read(const Elf64_Phdr &dynamic) {
    std::vector<uint64_t> needed_names;
    std::optional<uint64_t> rpath, runpath;
    uint64_t symbol_size = sizeof(Elf64_Sym);
    bool ended = false;
    for (uint64_t i = 0; !ended && i < std::min(dynamic.p_filesz / sizeof(Elf64_Dyn), most_entries); ++i) {
        Elf64_Dyn entry;
        if (!get(dynamic.p_vaddr + i * sizeof entry, entry)) return "its dynamic section lies outside the loaded part";
        const uint64_t value = entry.d_un.d_val;
        entries.push_back(entry);
        switch (entry.d_tag) {
        case DT_NULL:
            ended = true;
            break;
        case DT_NEEDED:
            needed_names.push_back(value);
            break;
        case DT_RPATH:
            rpath = value;
            break;
        case DT_RUNPATH:
            runpath = value;
            break;
        case DT_STRTAB:
            strings_ = value;
            break;
        case DT_STRSZ:
            strings_size_ = value;
            break;
        case DT_SYMTAB:
            symbols_ = value;
            break;
        case DT_SYMENT:
            symbol_size = value;
            break;
        case DT_GNU_HASH:
            gnu_hash_ = value;
            break;
        case DT_HASH:
            sysv_hash_ = value;
            break;
        case DT_FLAGS_1:
            is_program = (value & DF_1_PIE) != 0;
            break;
        default:
            break;
        }
    }
    if (!ended) return "its dynamic section has no end";
    if (strings_ == 0 || !map_.offset(strings_, strings_size_)) return "its string table lies outside the file";
    if (symbols_ == 0 || symbol_size != sizeof(Elf64_Sym)) return "no usable symbol table";
    if (gnu_hash_ == 0 && sysv_hash_ == 0) return "no symbol hash table";
    if (needed_names.size() > most_needed) return fmt::format("it needs {} libraries", needed_names.size());
    if (const auto index = runpath ? runpath : rpath) {
        auto text = text_at(*index, longest_path);
        if (!text) return "its library search path lies outside its string table";
        run_path = std::move(*text);
    }
    for (const uint64_t index : needed_names) {
        auto name = text_at(index, longest_name);
        if (!name || name->empty()) return "the name of a needed library lies outside its string table";
        needed.push_back(std::move(*name));
    }
    return std::nullopt;
}

std::optional<std::string> DynamicTables::text_at(uint64_t index, uint64_t most) const {
    std::string text;
    std::array<char, 64> block;
    while (index < strings_size_ && text.size() < most) {
        const uint64_t count = std::min<uint64_t>(block.size(), strings_size_ - index);
        const auto offset = map_.offset(strings_ + index, count);
        if (!offset || !file_.read(*offset, block.data(), count)) return std::nullopt;
        const auto end = std::find(block.begin(), block.begin() + static_cast<ptrdiff_t>(count), '\0');
        text.append(block.begin(), end);
        if (end != block.begin() + static_cast<ptrdiff_t>(count)) return text;
        index += count;
    }
    return std::nullopt; // no NUL inside the table
}

bool DynamicTables::named(const Elf64_Sym &symbol, std::string_view name) const {
    const uint64_t count = name.size() + 1;
    if (symbol.st_name > strings_size_ || count > strings_size_ - symbol.st_name) return false;
    std::array<char, 128> bytes;
    const auto offset = map_.offset(strings_ + symbol.st_name, count);
    return count <= bytes.size() && offset && file_.read(*offset, bytes.data(), count) && bytes[name.size()] == '\0' &&
           std::string_view(bytes.data(), name.size()) == name;
}

bool DynamicTables::symbol_at(uint64_t index, Elf64_Sym &out) const {
    return index < UINT64_MAX / sizeof out && get(symbols_ + index * sizeof out, out);
}

// The symbol if it has this name, is defined here and is visible to dlsym.
std::optional<Elf64_Sym> DynamicTables::usable(uint64_t index, std::string_view name) const {
    Elf64_Sym symbol;
    if (!symbol_at(index, symbol) || !named(symbol, name) || !is_exported(symbol)) return std::nullopt;
    return symbol;
}

std::optional<Elf64_Sym> DynamicTables::find_defined(std::string_view name) const {
    return gnu_hash_ != 0 ? find_gnu(name) : find_sysv(name);
}

std::optional<Elf64_Sym> DynamicTables::find_gnu(std::string_view name) const {
    GnuHashHeader header;
    if (!get(gnu_hash_, header) || header.buckets == 0) return std::nullopt;
    const uint64_t buckets = gnu_hash_ + sizeof header + uint64_t{header.bloom_words} * sizeof(uint64_t);
    const uint64_t chains = buckets + uint64_t{header.buckets} * sizeof(uint32_t);
    const uint32_t wanted = gnu_hash_of(name);
    uint32_t index = 0;
    if (!get(buckets + uint64_t{wanted % header.buckets} * sizeof index, index) || index < header.first_symbol)
        return std::nullopt;
    for (uint64_t steps = 0; index != 0 && steps < most_chain; ++steps, ++index) {
        uint32_t hash = 0;
        if (!get(chains + uint64_t{index - header.first_symbol} * sizeof hash, hash)) return std::nullopt;
        if ((hash | 1) == (wanted | 1)) {
            if (auto symbol = usable(index, name)) return symbol;
        }
        if (hash & 1) return std::nullopt; // end of this bucket's chain
    }
    return std::nullopt;
}

std::optional<Elf64_Sym> DynamicTables::find_sysv(std::string_view name) const {
    struct {
        uint32_t buckets, chains;
    } header;
    if (!get(sysv_hash_, header) || header.buckets == 0) return std::nullopt;
    const uint64_t buckets = sysv_hash_ + sizeof header, chains = buckets + uint64_t{header.buckets} * sizeof(uint32_t);
    uint32_t index = 0;
    if (!get(buckets + uint64_t{sysv_hash_of(name) % header.buckets} * sizeof index, index)) return std::nullopt;
    for (uint64_t steps = 0; index != 0 && index < header.chains && steps < std::min<uint64_t>(header.chains, most_chain);
         ++steps) {
        if (auto symbol = usable(index, name)) return symbol;
        if (!get(chains + uint64_t{index} * sizeof index, index)) return std::nullopt;
    }
    return std::nullopt;
}

// With the GNU table only the chains know: the last symbol of the fullest one is the last of all.
uint64_t DynamicTables::symbol_count() const {
    GnuHashHeader header;
    if (gnu_hash_ == 0) {
        uint32_t sizes[2] = {};
        return get(sysv_hash_, sizes) ? std::min<uint64_t>(sizes[1], most_chain) : 0;
    }
    if (!get(gnu_hash_, header)) return 0;
    const uint64_t buckets = gnu_hash_ + sizeof header + uint64_t{header.bloom_words} * sizeof(uint64_t);
    const uint64_t chains = buckets + uint64_t{header.buckets} * sizeof(uint32_t);
    uint32_t last = 0, index = 0, hash = 0;
    for (uint64_t i = 0; i < std::min<uint64_t>(header.buckets, most_chain); ++i)
        if (get(buckets + i * sizeof index, index)) last = std::max(last, index);
    if (last < header.first_symbol) return header.first_symbol;
    for (uint64_t steps = 0; steps < most_chain; ++steps, ++last)
        if (!get(chains + uint64_t{last - header.first_symbol} * sizeof hash, hash) || (hash & 1)) break;
    return uint64_t{last} + 1;
}

std::vector<std::string> DynamicTables::exported(size_t most) const {
    std::vector<std::string> names;
    const uint64_t count = symbol_count();
    for (uint64_t i = 1; i < count && i < most_chain && names.size() < most; ++i) {
        Elf64_Sym symbol;
        if (!symbol_at(i, symbol)) break;
        if (!is_exported(symbol) || symbol.st_shndx == SHN_ABS) continue; // a version's own name
        if (auto name = text(symbol.st_name)) names.push_back(std::move(*name));
    }
    return names;
}

std::optional<std::string> DynamicTables::text(uint64_t index) const {
    return text_at(index, longest_name);
}

bool DynamicTables::has_undefined(std::string_view name) const {
    // With the GNU table undefined symbols come first; the older table counts all of them.
    uint64_t count = 0;
    if (gnu_hash_ != 0) {
        GnuHashHeader header;
        if (get(gnu_hash_, header)) count = header.first_symbol;
    } else {
        uint32_t header[2];
        if (get(sysv_hash_, header)) count = header[1];
    }
    for (uint64_t i = 1; i < std::min(count, most_undefined); ++i) {
        Elf64_Sym symbol;
        if (!symbol_at(i, symbol)) return false;
        if (symbol.st_shndx == SHN_UNDEF && named(symbol, name)) return true;
    }
    return false;
}

} // namespace hbf::loader
