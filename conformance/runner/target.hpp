// SPDX-License-Identifier: Apache-2.0
// Which plugin and device a run is about, from what was asked for.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include "conformance/suite/subject.hpp"

namespace hbf::conformance {

struct Target {
    std::string plugin_file;                                  // absolute path
    std::string device_id;                                    // "": the first that the plugin reports
    std::vector<std::pair<std::string, std::string>> options; // of the configuration, for this plugin
    PeerOptions peer = {};                                    // a second device, for the cases between two
    std::string peer_asked = {};                              // as it was asked for; "": the default
};

struct TargetError {
    enum Kind { usage, untested, other } kind = other;
    std::string message;
};

// A file: it must be there; `device` is an id in it, or "".
tl::expected<Target, TargetError> target_of_file(const std::string &path, const std::string &device);

// A device by name, as hbf probe shows it: a plugin's name ("host"), a device's id ("host0"), or PLUGIN:ID. "sim" is the
// suite's simulated device, unless an installed plugin has that name.
tl::expected<Target, TargetError> target_of_name(const std::string &name, const std::function<bool()> &cancelled);

// Without a name: the first device of the plugin that ranks first on this host. `said`: which one that is, and which plugins
// could have ranked before it, but their probe gave no answer. Untested where no plugin offers a device.
tl::expected<Target, TargetError> target_of_host(const std::function<bool()> &cancelled, std::string &said);

// Gives the target its peer: a name as above, a library's path, "none", or "", which is this host's plugin, and the
// simulated device where that is the one tested. An installation without that has none.
tl::expected<void, TargetError> add_peer(Target &target, const std::string &name, const std::function<bool()> &cancelled);

} // namespace hbf::conformance
