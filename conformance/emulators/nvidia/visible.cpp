// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/nvidia/visible.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <string_view>

namespace hbf::emulated {
namespace {

// The device that a word of the list names, or -1.
int named(const model::Machine &machine, const std::vector<int> &all, std::string_view word) {
    if (word.starts_with("GPU-")) {
        for (const int device : all)
            if (uuid_text(machine.profile().devices[static_cast<size_t>(device)]).starts_with(word)) return device;
        return -1;
    }
    if (word.empty() || word.size() > 4 || word.find_first_not_of("0123456789") != std::string_view::npos) return -1;
    const size_t number = std::stoul(std::string(word));
    return number < all.size() ? all[number] : -1;
}

} // namespace

std::vector<int> visible_devices(const model::Machine &machine) {
    std::vector<int> all = machine.devices_of("nvidia");
    // MIG guide: a device that is in MIG mode is used by its instances only. A profile says mig = "empty" of one without.
    std::erase_if(all, [&](int device) {
        const auto &texts = machine.profile().devices[static_cast<size_t>(device)].texts;
        const auto found = texts.find("mig");
        return found != texts.end() && found->second == "empty";
    });
    const char *const list = std::getenv("CUDA_VISIBLE_DEVICES");
    if (!list) return all;
    std::vector<int> seen;
    for (std::string_view rest = list;;) {
        const size_t comma = rest.find(',');
        std::string_view word = rest.substr(0, comma);
        while (word.starts_with(' ')) word.remove_prefix(1);
        while (word.ends_with(' ')) word.remove_suffix(1);
        const int device = named(machine, all, word);
        if (device < 0) return seen;
        if (std::find(seen.begin(), seen.end(), device) != seen.end()) return {}; // guide: named twice, none is seen
        seen.push_back(device);
        if (comma == std::string_view::npos) return seen;
        rest.remove_prefix(comma + 1);
    }
}

void uuid_bytes(const model::ProfileDevice &device, char out[16]) {
    std::string digits;
    for (const char c : device.uuid)
        if (std::isxdigit(static_cast<unsigned char>(c))) digits += c;
    digits.resize(32, '0');
    for (size_t i = 0; i < 16; ++i) out[i] = static_cast<char>(std::stoi(digits.substr(2 * i, 2), nullptr, 16));
}

std::string uuid_text(const model::ProfileDevice &device) {
    char bytes[16];
    uuid_bytes(device, bytes);
    std::string text = "GPU-";
    for (size_t i = 0; i < 16; ++i) {
        constexpr char digits[] = "0123456789abcdef";
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        const auto byte = static_cast<unsigned char>(bytes[i]);
        text += digits[byte >> 4];
        text += digits[byte & 15];
    }
    return text;
}

} // namespace hbf::emulated
