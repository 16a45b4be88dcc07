// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/kernels/architecture.hpp"

#include <cctype>
#include <vector>

#include "plugins/amd/errors.hpp"

namespace hbf::amd {
namespace {

// Length of "gfx90a:sramecc+:xnack-" at the beginning; 0 if there is none that ends with a 0.
size_t name_at(std::string_view text) {
    size_t at = 3;
    while (at < text.size() && std::isxdigit(static_cast<unsigned char>(text[at]))) ++at;
    if (at < 6 || at > 8) return 0;
    while (at < text.size() && text[at] == ':') {
        const size_t feature = ++at;
        while (at < text.size() && (std::isalpha(static_cast<unsigned char>(text[at])) || text[at] == '_')) ++at;
        if (at == feature || at == text.size() || (text[at] != '+' && text[at] != '-')) return 0;
        ++at;
    }
    return at < text.size() && text[at] == '\0' ? at : 0;
}

} // namespace

std::string architecture_in(std::string_view bytes) {
    std::string found;
    for (size_t at = bytes.find("gfx"); at != std::string_view::npos; at = bytes.find("gfx", at + 3))
        if (const size_t length = name_at(bytes.substr(at)); length > 0) found = bytes.substr(at, length);
    return found;
}

// Only hipDeviceProp_t has it, in a place that differs from release to release. The name is looked for wherever it stands,
// in a buffer that is larger than any of these structs.
std::string architecture_of(const Hip &hip, int device) {
    auto *const ask = hip.GetDevicePropertiesR0600 ? hip.GetDevicePropertiesR0600 : hip.GetDeviceProperties;
    if (!ask) return {};
    std::vector<char> properties(16384);
    if (taken(ask(properties.data(), device)) != code::success) return {};
    return architecture_in({properties.data(), properties.size()});
}

} // namespace hbf::amd
