// SPDX-License-Identifier: Apache-2.0
// The dynamic section of a shared object: needed libraries and symbols, read with every bound checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <elf.h>
#include <tl/expected.hpp>

#include "core/loader/elf.hpp"

namespace hbf::loader {

// Where an address of the loaded library lies in its file.
class AddressMap {
public:
    bool add(uint64_t address, uint64_t offset, uint64_t size); // false: the sum overflows
    // File offset of [address, address + size), which must lie in one segment's file part.
    std::optional<uint64_t> offset(uint64_t address, uint64_t size) const;

private:
    struct Part {
        uint64_t address, offset, size;
    };
    std::vector<Part> parts_;
};

// What the program headers say, checked.
struct ElfImage {
    AddressMap map;
    Elf64_Phdr dynamic = {};
    bool executable_stack = true; // where no header speaks of the stack, the dynamic linker makes it so
};
tl::expected<ElfImage, Refusal> open_elf(const ByteSource &file);

class DynamicTables {
public:
    DynamicTables(const ByteSource &file, const AddressMap &map) : file_(file), map_(map) {}

    std::optional<std::string> read(const Elf64_Phdr &dynamic);         // what is wrong, if anything
    std::optional<Elf64_Sym> find_defined(std::string_view name) const; // visible to others, and defined here
    bool has_undefined(std::string_view name) const;
    std::vector<std::string> exported(size_t most) const; // every symbol that find_defined would find

    std::optional<std::string> text(uint64_t index) const; // of the string table
    template <class T>
    bool get(uint64_t address, T &out) const {
        const auto offset = map_.offset(address, sizeof out);
        return offset && file_.read(*offset, &out, sizeof out);
    }

    std::vector<Elf64_Dyn> entries; // of the dynamic section, as they stand
    std::vector<std::string> needed;
    std::string run_path;    // DT_RUNPATH, else DT_RPATH, as the dynamic linker has it; "": neither
    bool is_program = false; // a position-independent executable

private:
    std::optional<std::string> text_at(uint64_t index, uint64_t most) const;
    bool named(const Elf64_Sym &symbol, std::string_view name) const;
    bool symbol_at(uint64_t index, Elf64_Sym &out) const;
    uint64_t symbol_count() const; // bounded
    std::optional<Elf64_Sym> usable(uint64_t index, std::string_view name) const;
    std::optional<Elf64_Sym> find_gnu(std::string_view name) const;
    std::optional<Elf64_Sym> find_sysv(std::string_view name) const;

    const ByteSource &file_;
    const AddressMap &map_;
    uint64_t strings_ = 0, strings_size_ = 0, symbols_ = 0, gnu_hash_ = 0, sysv_hash_ = 0;
};

} // namespace hbf::loader
