// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/options.hpp"

#include <vector>

#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "core/output/size.hpp"

namespace hbf::nvidia {
namespace {

[[noreturn]] void refuse(const std::string &key, const std::string &text, const std::string &wanted) {
    sdk::fail(HBF_INVALID, fmt::format("option {}: \"{}\" is not {}", key, text, wanted));
}

uint64_t bytes(const std::string &key, const std::string &text) {
    constexpr uint64_t least = 2 << 20; // what the driver maps at least
    const auto value = parse_size(text);
    if (!value) refuse(key, text, "a size: " + value.error());
    if (*value < least) refuse(key, text, "a size of 2 MiB or more");
    return *value / least * least;
}

uint64_t l2(const std::string &key, const std::string &text) {
    const auto value = parse_size(text);
    if (!value) refuse(key, text, "a size: " + value.error());
    return *value;
}

Choice choice(const std::string &key, const std::string &text) {
    if (text == "auto") return Choice::automatic;
    if (text == "off") return Choice::off;
    refuse(key, text, "auto or off");
}

} // namespace

Options parse_options(const sdk::Options &options) {
    Options result;
    for (const auto &[key, text] : options) {
        if (key == "device") {
            if (text.empty()) refuse(key, text, "an id, a part of a name, a PCI address, a UUID or an ordinal");
            result.device = text;
        } else if (key == "hbm_bytes") {
            result.hbm_bytes = bytes(key, text);
        } else if (key == "pinned_bytes") {
            result.pinned_bytes = bytes(key, text);
        } else if (key == "peer_bytes") {
            result.peer_bytes = bytes(key, text);
        } else if (key == "persisting_l2") {
            result.persisting_l2 = l2(key, text);
        } else if (key == "storage_path") {
            if (text.empty() || text[0] != '/') refuse(key, text, "the path of a folder, from the root");
            result.storage = text;
        } else if (key == "storage_bytes") {
            result.storage_bytes = bytes(key, text);
        } else if (key == "peers") {
            result.peers = choice(key, text);
        } else if (key == "batches") {
            result.batches = choice(key, text);
        } else if (key == "virtual_memory") {
            result.virtual_memory = choice(key, text);
        } else {
            const std::vector<std::string> known = {"device",        "hbm_bytes",     "pinned_bytes",  "peer_bytes",
                                                    "persisting_l2", "storage_path",  "storage_bytes", "peers",
                                                    "batches",       "virtual_memory"};
            sdk::fail(HBF_INVALID, fmt::format("unknown option \"{}\" of plugin nvidia{}; there are {}", key,
                                               did_you_mean(key, known), fmt::join(known, ", ")));
        }
    }
    if (options.contains("storage_bytes") && result.storage.empty())
        sdk::fail(HBF_INVALID,
                  "option storage_bytes: it says how large storage may grow, and there is no option storage_path");
    return result;
}

} // namespace hbf::nvidia
