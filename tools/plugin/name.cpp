// SPDX-License-Identifier: Apache-2.0
#include "tools/plugin/name.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/common/printable.hpp"
#include "core/loader/manifest.hpp"

namespace hbf::tools::plugin {
namespace {

// The new project's only tier is NAME0, and a tier's name has room for 31 bytes.
constexpr size_t longest_name = 30, longest_vendor = 128;

constexpr std::array<std::string_view, 3> taken = {"host", "sim", "inject"};

} // namespace

std::string name_objection(std::string_view name) {
    if (name.size() > longest_name)
        return fmt::format("the name has {} bytes; at most {} are possible, since the tier is called after it", name.size(),
                           longest_name);
    if (!loader::is_plugin_name(name))
        return fmt::format("'{}' is no name for a plugin: a lower-case letter, then lower-case letters, digits, '_' or '-'",
                           printable(name, 80));
    if (std::find(taken.begin(), taken.end(), name) != taken.end())
        return fmt::format("'{}' is a plugin that comes with HBF: with two of one name only one serves", name);
    return "";
}

// It goes into C++, TOML and meson as it is.
std::string vendor_objection(std::string_view vendor) {
    if (vendor.find_first_not_of(' ') == std::string_view::npos) return "the vendor's name is empty";
    if (vendor.size() > longest_vendor)
        return fmt::format("the vendor's name has {} bytes; at most {} are possible", vendor.size(), longest_vendor);
    if (vendor.find_first_of("\"\\@") != std::string_view::npos || printable(vendor, longest_vendor) != vendor)
        return fmt::format("the vendor's name may have no quotation mark, backslash, '@' or control character: {}",
                           printable(vendor, longest_vendor));
    return "";
}

} // namespace hbf::tools::plugin
