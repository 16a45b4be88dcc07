// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <charconv>
#include <fstream>

#include <fmt/format.h>

namespace hbf::host {

std::optional<std::string> read_line(const std::filesystem::path &path) {
    std::ifstream in(path);
    std::string line;
    if (!std::getline(in, line)) return std::nullopt;
    return line;
}

std::optional<uint64_t> read_number(const std::filesystem::path &path) {
    auto line = read_line(path);
    if (!line) return std::nullopt;
    uint64_t value = 0;
    if (std::from_chars(line->data(), line->data() + line->size(), value).ec != std::errc()) return std::nullopt;
    return value;
}

std::string cpu_model(const std::filesystem::path &root) {
    std::ifstream in(root / "proc/cpuinfo");
    std::string implementer, part;
    for (std::string line; std::getline(in, line);) {
        auto colon = line.find(": ");
        if (colon == std::string::npos) continue;
        std::string value = line.substr(colon + 2);
        if (line.starts_with("model name")) return value;             // x86
        if (line.starts_with("CPU implementer")) implementer = value; // Arm names no model
        if (line.starts_with("CPU part")) part = value;
        if (!implementer.empty() && !part.empty()) return fmt::format("Arm CPU, implementer {} part {}", implementer, part);
    }
    return "unknown CPU";
}

std::string kernel_release(const std::filesystem::path &root) {
    auto type = read_line(root / "proc/sys/kernel/ostype");
    auto release = read_line(root / "proc/sys/kernel/osrelease");
    if (!release) return "";
    return type.value_or("Linux") + " " + *release;
}

} // namespace hbf::host
