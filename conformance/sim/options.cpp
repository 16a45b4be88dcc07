// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/options.hpp"

#include <fmt/format.h>

#include "core/output/size.hpp"

namespace hbf::sim {
namespace {

[[noreturn]] void refuse(const std::string &key, const std::string &text, const std::string &wanted) {
    sdk::fail(HBF_INVALID, fmt::format("option {}: \"{}\" is not {}", key, text, wanted));
}

uint64_t number(const std::string &key, const std::string &text, uint64_t most) {
    const auto value = parse_number(text);
    if (!value || *value > most) refuse(key, text, fmt::format("a whole number from 0 to {}", most));
    return *value;
}

constexpr uint64_t least_bytes = 1 << 20, most_bytes = uint64_t{1} << 40;

uint64_t bytes(const std::string &key, const std::string &text) {
    const auto value = parse_size(text);
    if (!value) refuse(key, text, "a size: " + value.error());
    if (*value < least_bytes || *value > most_bytes || *value % least_bytes != 0)
        refuse(key, text, "a size of whole MiB, from 1MiB to 1TiB");
    return *value;
}

} // namespace

SimOptions parse_options(const sdk::Options &options) {
    SimOptions result;
    for (const auto &[key, text] : options) {
        if (key == "sim.seed") {
            result.seed = number(key, text, UINT64_MAX);
        } else if (key == "sim.engines") {
            result.engines = static_cast<uint32_t>(number(key, text, 8));
        } else if (key == "sim.vram") {
            result.vram = bytes(key, text);
        } else if (key == "sim.hbf") {
            result.hbf = bytes(key, text);
        } else if (key == "sim.cold") {
            result.cold = bytes(key, text);
        } else if (key == "sim.persist") {
            if (text.empty() || text.front() != '/') refuse(key, text, "the absolute path of a folder");
            result.folder = text;
        } else if (key == "sim.fail" || key == "test.uncorrectable") { // the second: as any plugin may offer it
            result.fail_copy = number(key, text, UINT64_MAX);
        } else {
            sdk::fail(HBF_INVALID, fmt::format("unknown option \"{}\" of plugin sim: there are sim.seed, sim.engines, "
                                               "sim.vram, sim.hbf, sim.cold, sim.persist and sim.fail",
                                               key));
        }
    }
    return result;
}

} // namespace hbf::sim
