// SPDX-License-Identifier: Apache-2.0
#include "memory/smaps.hpp"

#include <charconv>
#include <fstream>
#include <string>
#include <string_view>

namespace hbf::host {
namespace {

std::optional<uint64_t> number(std::string_view text, int base, std::string_view &rest) {
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc()) return std::nullopt;
    rest = text.substr(static_cast<size_t>(end - text.data()));
    return value;
}

// "7f12a000-7f12b000 rw-p ..." -> its begin
std::optional<uint64_t> area_begin(std::string_view line) {
    std::string_view rest;
    const auto begin = number(line, 16, rest);
    return begin && rest.starts_with('-') ? begin : std::nullopt;
}

// "Rss:      2048 kB" -> 2 MiB
bool take(std::string_view line, std::string_view name, uint64_t &bytes) {
    if (!line.starts_with(name)) return false;
    line.remove_prefix(name.size());
    while (line.starts_with(' ')) line.remove_prefix(1);
    std::string_view rest;
    if (const auto value = number(line, 10, rest)) bytes = *value * 1024;
    return true;
}

} // namespace

std::optional<PageFacts> parse_smaps(std::istream &smaps, uint64_t address) {
    std::optional<PageFacts> facts;
    for (std::string line; std::getline(smaps, line);) {
        if (const auto begin = area_begin(line)) {
            // Areas come in ascending order, and the kernel works them out as we read: stop early.
            if (facts || *begin > address) break;
            if (*begin == address) facts.emplace();
        } else if (facts) {
            uint64_t private_huge = 0;
            (void)(take(line, "KernelPageSize:", facts->kernel_page) || take(line, "AnonHugePages:", facts->transparent) ||
                   take(line, "Rss:", facts->resident));
            if (take(line, "Private_Hugetlb:", private_huge)) facts->resident += private_huge;
        }
    }
    return facts;
}

std::optional<PageFacts> page_facts(const std::byte *address) {
    std::ifstream smaps("/proc/self/smaps");
    return parse_smaps(smaps, reinterpret_cast<uintptr_t>(address));
}

} // namespace hbf::host
