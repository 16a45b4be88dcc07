// SPDX-License-Identifier: Apache-2.0
// Which plugin and device a run is about, from what was asked for.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace hbf::conformance {

struct Target {
    std::string plugin_file;                                  // absolute path
    std::string device_id;                                    // "": the first that the plugin reports
    std::vector<std::pair<std::string, std::string>> options; // of the configuration, for this plugin
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

} // namespace hbf::conformance
