// SPDX-License-Identifier: Apache-2.0
#include "tools/without_root.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "core/output/stream.hpp"

namespace hbf::tools {
namespace {

bool for_lack_of_rights(const std::string &error) {
    for (const std::string &said :
         {std::string(std::strerror(EACCES)), std::string(std::strerror(EPERM)), std::string("only root may")})
        if (error.find(said) != error.npos) return true;
    return false;
}

} // namespace

std::string without_root(const Inventory &inventory) {
    std::vector<std::string> lost;
    for (const auto &[name, setting] : inventory.settings)
        if (!setting.value && for_lack_of_rights(setting.error))
            lost.push_back(fmt::format("{} ({})", name, setting.source));
    size_t more = 0;
    for (const std::string &problem : inventory.problems) {
        bool named = false;
        for (const auto &[name, setting] : inventory.settings) named = named || setting.error == problem;
        if (!named && for_lack_of_rights(problem)) ++more;
    }
    if (more != 0) lost.push_back(fmt::format("{} file{} below {}", more, more == 1 ? "" : "s", inventory.root.string()));
    if (lost.empty()) return "";
    return fmt::format("note: without root, not read: {}", fmt::join(lost, ", "));
}

void say_without_root(const std::filesystem::path &root) {
    if (geteuid() == 0) return;
    const auto inventory = read_inventory(root);
    const std::string line = inventory ? without_root(*inventory) : "";
    if (!line.empty()) print_error(line);
}

} // namespace hbf::tools
