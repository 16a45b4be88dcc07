// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/nvidia/cuda/images.hpp"

#include <cstdlib>
#include <cstring>
#include <string_view>

#include <elf.h>

namespace hbf::emulated::cuda {
namespace {

constexpr uint32_t fat_binary_magic = 0xba55ed50;
constexpr Elf64_Half em_cuda = 190;
constexpr int newest_ptx = 90; // ISA 9.0, as release 13.0 has it

Image refuse(CUresult code, std::string why) {
    Image image;
    image.refused = code;
    image.log = std::move(why);
    return image;
}

// Programming guide, "Binary compatibility": a cubin of X.y runs on X.z with z >= y only.
bool runs_on(int binary, int capability) {
    return binary / 10 == capability / 10 && binary <= capability;
}

// A cubin is an ELF file, in which the code of a kernel NAME lies in a section ".text.NAME". Since the toolkit's ABI 8 the
// version stands in the second byte of its flags, before that in the first.
Image look_at_cubin(const char *bytes, int capability) {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes, sizeof header);
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != em_cuda || header.e_shentsize != sizeof(Elf64_Shdr))
        return refuse(INVALID_IMAGE, "the ELF file is none for this machine");
    Image image;
    const unsigned flags = header.e_flags;
    image.binary_version = static_cast<int>(header.e_ident[EI_ABIVERSION] >= 8 ? (flags >> 8) & 0xff : flags & 0xff);
    if (!runs_on(image.binary_version, capability))
        return refuse(NO_BINARY_FOR_GPU, "the image is for sm_" + std::to_string(image.binary_version));
    const auto section = [&](size_t index) {
        Elf64_Shdr at;
        std::memcpy(&at, bytes + header.e_shoff + index * sizeof at, sizeof at);
        return at;
    };
    const Elf64_Shdr strings = section(header.e_shstrndx);
    for (size_t i = 0; i < header.e_shnum; ++i) {
        const std::string_view name = bytes + strings.sh_offset + section(i).sh_name;
        if (name.starts_with(".text.")) image.entries.emplace_back(name.substr(6));
    }
    return image;
}

std::string_view word_after(std::string_view text, std::string_view directive) {
    const size_t at = text.find(directive);
    if (at == std::string_view::npos) return {};
    text.remove_prefix(at + directive.size());
    return text.substr(0, text.find_first_of(" \t\r\n(,;{"));
}

// "8.3" is 83.
int ptx_isa(std::string_view words) {
    const size_t dot = words.find('.');
    if (dot == std::string_view::npos) return 0;
    return 10 * std::atoi(std::string(words.substr(0, dot)).c_str()) + std::atoi(std::string(words.substr(dot + 1)).c_str());
}

// PTX is compiled for the device, for any as new as its target (programming guide, "PTX compatibility");
// architecture-specific targets ("sm_90a") for that one only.
Image look_at_ptx(std::string_view text, int capability) {
    const int isa = ptx_isa(word_after(text, ".version "));
    const std::string_view target = word_after(text, ".target sm_");
    if (isa == 0 || target.empty()) return refuse(INVALID_PTX, "no .version or no .target");
    if (isa > newest_ptx) return refuse(UNSUPPORTED_PTX_VERSION, "its .version is newer than this driver's compiler");
    Image image;
    image.ptx_version = std::atoi(std::string(target).c_str());
    image.binary_version = capability;
    const bool specific = target.ends_with('a');
    if (specific ? image.ptx_version != capability : image.ptx_version > capability)
        return refuse(NO_BINARY_FOR_GPU, "its .target is sm_" + std::string(target));
    for (size_t at = 0; (at = text.find(".entry ", at)) != std::string_view::npos; ++at)
        image.entries.emplace_back(word_after(text.substr(at), ".entry "));
    return image;
}

} // namespace

Image look_at(const void *image, int capability) {
    const auto *const bytes = static_cast<const char *>(image);
    uint32_t magic = 0;
    std::memcpy(&magic, bytes, sizeof magic);
    if (std::memcmp(bytes, ELFMAG, SELFMAG) == 0) return look_at_cubin(bytes, capability);
    if (magic == fat_binary_magic) return refuse(NOT_SUPPORTED, "fat binaries are not emulated");
    const std::string_view text = bytes; // ended by a 0
    return text.find(".version") == std::string_view::npos ? refuse(INVALID_IMAGE, "neither a cubin nor PTX")
                                                           : look_at_ptx(text, capability);
}

} // namespace hbf::emulated::cuda
