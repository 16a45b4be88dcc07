// SPDX-License-Identifier: Apache-2.0
#include "core/loader/elf.hpp"

#include <bit>
#include <cerrno>
#include <cstring>

#include <elf.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/loader/elf_dynamic.hpp"
#include "hbf/abi/host.h"

namespace hbf::loader {
namespace {

#if defined(__x86_64__)
constexpr uint16_t host_machine = EM_X86_64;
constexpr const char *host_name = "x86-64";
#elif defined(__aarch64__)
constexpr uint16_t host_machine = EM_AARCH64;
constexpr const char *host_name = "aarch64";
#else
#error "a machine the loader knows no ELF number for"
#endif

std::string machine_name(uint16_t machine) {
    switch (machine) {
    case EM_X86_64:
        return "x86-64";
    case EM_AARCH64:
        return "aarch64";
    case EM_386:
        return "x86 (32 bit)";
    case EM_ARM:
        return "arm (32 bit)";
    case EM_PPC64:
        return "ppc64";
    case EM_RISCV:
        return "riscv";
    case EM_S390:
        return "s390";
    default:
        return fmt::format("machine number {}", machine);
    }
}

Refusal not_a_plugin(std::string detail) {
    return {Reason::not_a_plugin, std::move(detail)};
}

Refusal wrong_arch(const std::string &built_for) {
    return {Reason::wrong_arch,
            fmt::format("built for {}, this process is {}: install the {} build of it", built_for, host_name, host_name)};
}

std::optional<Refusal> read_header(const ByteSource &file, Elf64_Ehdr &header) {
    unsigned char ident[EI_NIDENT] = {};
    uint16_t machine = 0;
    if (file.size() == 0) return not_a_plugin("an empty file");
    if (!file.read(0, ident, SELFMAG) || std::memcmp(ident, ELFMAG, SELFMAG) != 0) {
        return not_a_plugin("not a shared object (no ELF magic at its start)");
    }
    if (!file.read(0, ident, sizeof ident) || !file.read(offsetof(Elf64_Ehdr, e_machine), &machine, sizeof machine)) {
        return not_a_plugin(fmt::format("a truncated ELF file of {} bytes: copy it again", file.size()));
    }
    const bool other_order = ident[EI_DATA] == (std::endian::native == std::endian::little ? ELFDATA2MSB : ELFDATA2LSB);
    if (ident[EI_CLASS] == ELFCLASS32)
        return wrong_arch(other_order ? "32 bit, the other byte order" : machine_name(machine));
    if (ident[EI_CLASS] != ELFCLASS64) return not_a_plugin(fmt::format("a corrupt ELF file (class {})", ident[EI_CLASS]));
    if (other_order) return wrong_arch("the other byte order");
    if (ident[EI_DATA] != ELFDATA2LSB && ident[EI_DATA] != ELFDATA2MSB) {
        return not_a_plugin(fmt::format("a corrupt ELF file (byte order {})", ident[EI_DATA]));
    }
    if (machine != host_machine) return wrong_arch(machine_name(machine));
    if (!file.read(0, &header, sizeof header)) {
        return not_a_plugin(fmt::format("a truncated ELF file of {} bytes: copy it again", file.size()));
    }
    if (header.e_type != ET_DYN) {
        return not_a_plugin(header.e_type == ET_EXEC  ? "a program, not a shared object"
                            : header.e_type == ET_REL ? "an object file that was not linked into a shared object"
                                                      : fmt::format("not a shared object (ELF type {})", header.e_type));
    }
    // Nothing here reads sections, but their table comes last in the file: if it is cut off, so may be anything before it.
    const uint64_t table_size = uint64_t{header.e_shnum} * header.e_shentsize;
    if (header.e_shoff != 0 && (header.e_shoff > file.size() || table_size > file.size() - header.e_shoff)) {
        return not_a_plugin(fmt::format("a truncated ELF file (its section table reaches to byte {} of {}): copy it again",
                                        header.e_shoff + table_size, file.size()));
    }
    return std::nullopt;
}

// The checks on program headers; fills the map from addresses to file offsets.
std::optional<Refusal> read_segments(const ByteSource &file, const Elf64_Ehdr &header, ElfImage &image) {
    constexpr uint16_t most_segments = 1024;
    if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 || header.e_phnum > most_segments) {
        return not_a_plugin(
            fmt::format("a corrupt ELF file ({} program headers of {} bytes)", header.e_phnum, header.e_phentsize));
    }
    bool has_dynamic = false;
    for (uint64_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        uint64_t offset = 0;
        if (__builtin_add_overflow(header.e_phoff, i * sizeof segment, &offset) ||
            !file.read(offset, &segment, sizeof segment)) {
            return not_a_plugin("a truncated or corrupt ELF file (its program headers lie outside it): copy it again");
        }
        if (segment.p_type == PT_GNU_STACK) image.executable_stack = (segment.p_flags & PF_X) != 0;
        if (segment.p_type != PT_LOAD && segment.p_type != PT_DYNAMIC) continue;
        uint64_t end = 0;
        if (__builtin_add_overflow(segment.p_offset, segment.p_filesz, &end) || end > file.size()) {
            return not_a_plugin(
                fmt::format("a truncated or corrupt ELF file (a segment reaches to byte {} of {}): copy it again",
                            segment.p_offset + segment.p_filesz, file.size()));
        }
        if (segment.p_type == PT_DYNAMIC) {
            if (has_dynamic) return not_a_plugin("a corrupt ELF file (two dynamic segments)");
            has_dynamic = true;
            image.dynamic = segment;
        } else if (segment.p_filesz > segment.p_memsz ||
                   !image.map.add(segment.p_vaddr, segment.p_offset, segment.p_filesz)) {
            return not_a_plugin("a corrupt ELF file (a segment with impossible sizes)");
        }
    }
    if (!has_dynamic) return not_a_plugin("no dynamic section: it was not linked as a shared object");
    return std::nullopt;
}

uint32_t sanitizer_of(const DynamicTables &tables) {
    for (const std::string &library : tables.needed) {
        if (library.starts_with("libasan.so") || library.find("clang_rt.asan") != std::string::npos)
            return HBF_SANITIZER_ADDRESS;
        if (library.starts_with("libtsan.so") || library.find("clang_rt.tsan") != std::string::npos)
            return HBF_SANITIZER_THREAD;
        if (library.find("clang_rt.msan") != std::string::npos) return HBF_SANITIZER_MEMORY;
    }
    if (tables.has_undefined("__asan_init")) return HBF_SANITIZER_ADDRESS;
    if (tables.has_undefined("__tsan_init")) return HBF_SANITIZER_THREAD;
    if (tables.has_undefined("__msan_init")) return HBF_SANITIZER_MEMORY;
    return HBF_SANITIZER_NONE;
}

} // namespace

bool FileBytes::read(uint64_t offset, void *out, uint64_t count) const {
    if (offset > size_ || count > size_ - offset) return false;
    char *at = static_cast<char *>(out);
    while (count > 0) {
        const ssize_t got = pread(fd_, at, count, static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false; // shrunk under our eyes
        at += got;
        offset += static_cast<uint64_t>(got);
        count -= static_cast<uint64_t>(got);
    }
    return true;
}

bool MemoryBytes::read(uint64_t offset, void *out, uint64_t count) const {
    if (offset > bytes_.size() || count > bytes_.size() - offset) return false;
    if (count > 0) std::memcpy(out, bytes_.data() + offset, count);
    return true;
}

tl::expected<ElfImage, Refusal> open_elf(const ByteSource &file) {
    Elf64_Ehdr header;
    ElfImage image;
    if (auto refusal = read_header(file, header)) return tl::unexpected(std::move(*refusal));
    if (auto refusal = read_segments(file, header, image)) return tl::unexpected(std::move(*refusal));
    return image;
}

ElfFacts examine_elf(const ByteSource &file, std::string_view entry) {
    ElfFacts facts;
    const auto image = open_elf(file);
    if (!image) {
        facts.refused = image.error();
        return facts;
    }
    DynamicTables tables(file, image->map);
    if (auto problem = tables.read(image->dynamic)) {
        facts.refused = not_a_plugin("a corrupt ELF file (" + *problem + ")");
        return facts;
    }
    if (tables.is_program) {
        facts.refused = not_a_plugin("a program, not a shared object");
        return facts;
    }
    facts.needed = tables.needed;
    facts.run_path = tables.run_path;
    facts.sanitizer = sanitizer_of(tables);
    const auto symbol = tables.find_defined(entry);
    if (!symbol) {
        facts.refused =
            not_a_plugin(fmt::format("does not itself define {}, the one symbol of a plugin (a dependency's does not "
                                     "count; is it exported?)",
                                     entry));
    } else if (const unsigned type = ELF64_ST_TYPE(symbol->st_info); type != STT_FUNC && type != STT_GNU_IFUNC) {
        facts.refused = not_a_plugin(fmt::format("its {} is not a function", entry));
    }
    return facts;
}

} // namespace hbf::loader
