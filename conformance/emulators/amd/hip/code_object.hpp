// SPDX-License-Identifier: Apache-2.0
// An AMD code object (LLVM, "User Guide for AMDGPU Backend", "Code Object"): an ELF file of machine EM_AMDGPU, whose flags
// name the processor, and whose dynamic symbols name each kernel, by "NAME.kd" its descriptor.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace hbf::emulated::hip {

struct CodeObject {
    std::string processor;            // "gfx942"; "": one that is not known here
    std::vector<std::string> kernels; // names
};

// What lies at `image`, whose size nobody says: false if that is no code object. At most 1 GiB is looked at.
bool read_code_object(const void *image, CodeObject &out);
// What the run-time compiler makes here: a code object that names kernels and holds no code of them. Empty: the processor is
// not known.
std::string make_code_object(std::string_view processor, std::span<const std::string> kernels);

} // namespace hbf::emulated::hip
