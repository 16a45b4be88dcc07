// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/nvidia/nvrtc/images.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>

#include <elf.h>

namespace hbf::emulated::nvrtc {
namespace {

bool of_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::string without_comments(std::string_view source) {
    std::string code;
    for (size_t at = 0; at < source.size();) {
        const bool line = source.substr(at, 2) == "//", block = source.substr(at, 2) == "/*";
        if (!line && !block) {
            code += source[at++];
            continue;
        }
        const size_t end = block ? source.find("*/", at + 2) : source.find('\n', at);
        at = end == std::string_view::npos ? source.size() : end + (block ? 2 : 0);
    }
    return code;
}

// Directives are no code: a macro's own text does not make a kernel.
std::string without_directives(std::string_view source) {
    std::string code;
    bool directive = false;
    while (!source.empty()) {
        const size_t end = std::min(source.find('\n'), source.size() - 1) + 1;
        const std::string_view line = source.substr(0, end);
        const size_t first = line.find_first_not_of(" \t");
        directive = directive || (first != std::string_view::npos && line[first] == '#');
        if (!directive) code += line;
        directive = directive && line.ends_with("\\\n");
        source.remove_prefix(end);
    }
    return code;
}

template <class T>
void append(std::string &bytes, const T &value) {
    bytes.append(reinterpret_cast<const char *>(&value), sizeof value);
}

} // namespace

std::vector<std::string> entries(std::string_view source) {
    const std::string code = without_directives(without_comments(source));
    std::vector<std::string> found;
    for (const std::string_view begin : {"__global__ void ", "HBF_KERNEL(", "HBF_PHASED_KERNEL("})
        for (size_t at = 0; (at = code.find(begin, at)) != std::string::npos;) {
            const bool inside = at > 0 && of_name(code[at - 1]) && begin.front() != '_';
            at += begin.size();
            size_t end = at;
            while (end < code.size() && of_name(code[end])) ++end;
            if (!inside && end > at) found.push_back(code.substr(at, end - at));
        }
    return found;
}

// An ELF file as nvcc's: the code of NAME is section ".text.NAME", the architecture the second byte of the flags.
std::string cubin(int architecture, const std::vector<std::string> &entries) {
    std::string names("\0.shstrtab\0", 11);
    std::vector<Elf64_Shdr> sections(1);
    const auto add = [&](uint32_t name, uint32_t type, uint64_t offset, uint64_t size) {
        Elf64_Shdr section{};
        section.sh_name = name;
        section.sh_type = type;
        section.sh_offset = offset;
        section.sh_size = size;
        sections.push_back(section);
    };
    for (const std::string &entry : entries) {
        add(static_cast<uint32_t>(names.size()), SHT_PROGBITS, sizeof(Elf64_Ehdr), 0);
        names += ".text." + entry + '\0';
    }
    add(1, SHT_STRTAB, sizeof(Elf64_Ehdr), names.size());
    while ((sizeof(Elf64_Ehdr) + names.size()) % alignof(Elf64_Shdr) != 0) names += '\0';

    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_ident[EI_OSABI] = 0x41;
    header.e_ident[EI_ABIVERSION] = 8;
    header.e_type = ET_EXEC;
    header.e_machine = 190; // EM_CUDA
    header.e_version = EV_CURRENT;
    header.e_flags = 0x6000004u | static_cast<uint32_t>(architecture) << 8;
    header.e_ehsize = sizeof header;
    header.e_shoff = sizeof header + names.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<uint16_t>(sections.size());
    header.e_shstrndx = static_cast<uint16_t>(sections.size() - 1);

    std::string file;
    append(file, header);
    file += names;
    for (const Elf64_Shdr &section : sections) append(file, section);
    return file;
}

std::string ptx(int architecture, const std::vector<std::string> &entries) {
    std::string text = ".version 8.0\n.target sm_" + std::to_string(architecture) + "\n.address_size 64\n";
    for (const std::string &entry : entries) text += ".visible .entry " + entry + "()\n{\n\tret;\n}\n";
    return text;
}

} // namespace hbf::emulated::nvrtc
