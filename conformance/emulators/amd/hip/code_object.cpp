// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/amd/hip/code_object.hpp"

#include <cstring>

#include <elf.h>

namespace hbf::emulated::hip {
namespace {

constexpr unsigned machine_amdgpu = 224, os_hsa = 64;
constexpr uint64_t most = uint64_t{1} << 30;

// LLVM, "AMDGPU Backend", table of EF_AMDGPU_MACH.
struct Processor {
    unsigned flag;
    std::string_view name;
};
constexpr Processor processors[] = {{0x02f, "gfx906"}, {0x030, "gfx908"},  {0x036, "gfx1030"},
                                    {0x03f, "gfx90a"}, {0x041, "gfx1100"}, {0x04c, "gfx942"}};

bool is_elf(const Elf64_Ehdr &header) {
    return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
           header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == machine_amdgpu &&
           header.e_shentsize == sizeof(Elf64_Shdr);
}

template <class T>
T at(const std::byte *image, uint64_t offset) {
    T out;
    std::memcpy(&out, image + offset, sizeof out);
    return out;
}

bool inside(uint64_t offset, uint64_t size) {
    return offset <= most && size <= most - offset;
}

void add_kernels(const std::byte *image, const Elf64_Shdr &symbols, const Elf64_Shdr &names, CodeObject &out) {
    if (!inside(symbols.sh_offset, symbols.sh_size) || !inside(names.sh_offset, names.sh_size) || names.sh_size == 0) return;
    const auto *const text = reinterpret_cast<const char *>(image + names.sh_offset);
    if (text[names.sh_size - 1] != 0) return;
    for (uint64_t i = 0; i + sizeof(Elf64_Sym) <= symbols.sh_size; i += sizeof(Elf64_Sym)) {
        const auto symbol = at<Elf64_Sym>(image, symbols.sh_offset + i);
        if (symbol.st_name >= names.sh_size || symbol.st_shndx == SHN_UNDEF) continue;
        const std::string_view name = text + symbol.st_name;
        if (name.ends_with(".kd")) out.kernels.emplace_back(name.substr(0, name.size() - 3));
    }
}

} // namespace

bool read_code_object(const void *from, CodeObject &out) {
    const auto *const image = static_cast<const std::byte *>(from);
    const auto header = at<Elf64_Ehdr>(image, 0);
    if (!is_elf(header) || !inside(header.e_shoff, uint64_t{header.e_shnum} * sizeof(Elf64_Shdr))) return false;
    for (const Processor &processor : processors)
        if (processor.flag == (header.e_flags & 0xff)) out.processor = processor.name;
    const auto section = [&](uint64_t index) { return at<Elf64_Shdr>(image, header.e_shoff + index * sizeof(Elf64_Shdr)); };
    for (uint64_t i = 0; i < header.e_shnum; ++i)
        if (const Elf64_Shdr symbols = section(i); symbols.sh_type == SHT_DYNSYM && symbols.sh_link < header.e_shnum)
            add_kernels(image, symbols, section(symbols.sh_link), out);
    return true;
}

std::string make_code_object(std::string_view name, std::span<const std::string> kernels) {
    const Processor *processor = nullptr;
    for (const Processor &one : processors)
        if (one.name == name) processor = &one;
    if (!processor) return {};

    std::string names(1, '\0');
    std::vector<Elf64_Sym> symbols(1);
    for (const std::string &kernel : kernels) {
        Elf64_Sym symbol{};
        symbol.st_name = static_cast<uint32_t>(names.size());
        symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
        symbol.st_shndx = SHN_ABS;
        symbols.push_back(symbol);
        names += kernel + ".kd" + '\0';
    }
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_ident[EI_OSABI] = os_hsa;
    header.e_type = ET_DYN;
    header.e_machine = machine_amdgpu;
    header.e_version = EV_CURRENT;
    header.e_flags = processor->flag;
    header.e_ehsize = sizeof header;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 3;
    header.e_shoff = sizeof header;
    Elf64_Shdr sections[3] = {};
    sections[1].sh_type = SHT_DYNSYM;
    sections[1].sh_link = 2;
    sections[1].sh_offset = sizeof header + sizeof sections;
    sections[1].sh_size = symbols.size() * sizeof(Elf64_Sym);
    sections[1].sh_entsize = sizeof(Elf64_Sym);
    sections[2].sh_type = SHT_STRTAB;
    sections[2].sh_offset = sections[1].sh_offset + sections[1].sh_size;
    sections[2].sh_size = names.size();
    std::string out(reinterpret_cast<const char *>(&header), sizeof header);
    out.append(reinterpret_cast<const char *>(sections), sizeof sections);
    out.append(reinterpret_cast<const char *>(symbols.data()), sections[1].sh_size);
    return out + names;
}

} // namespace hbf::emulated::hip
