// SPDX-License-Identifier: Apache-2.0
// Small readings of the machine below a root: what probe, coherence and health say of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace hbf::host {

std::optional<std::string> read_line(const std::filesystem::path &path); // first line, without its end
std::optional<uint64_t> read_number(const std::filesystem::path &path);

std::string cpu_model(const std::filesystem::path &root);      // "AMD EPYC 7R13", "aarch64 CPU 0x41/0xd0c", "unknown CPU"
std::string kernel_release(const std::filesystem::path &root); // "Linux 6.1.0-18-amd64", "" unknown

} // namespace hbf::host
