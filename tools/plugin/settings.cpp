// SPDX-License-Identifier: Apache-2.0
#include "tools/plugin/settings.hpp"

#include <charconv>

namespace hbf::tools::plugin {

Result<Config> settings_for(const PluginFiles &files) {
    ConfigSources sources;
    for (const char *key : {"plugins.path_add", "plugins.allow", "plugins.deny", "plugins.pin"}) sources.api[key] = "";
    const auto &beside = files.manifest.empty() ? files.plugin_file : files.manifest;
    sources.api["plugins.path"] = beside.parent_path().string();
    if (files.content) sources.api["plugins.allow"] = files.content->name; // the others of the folder are not run
    return Config::load(sources);
}

std::chrono::milliseconds probe_limit(const Config &config) {
    double seconds = 10;
    const std::string &text = config.get("plugins.probe_timeout_s").value;
    std::from_chars(text.data(), text.data() + text.size(), seconds);
    return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

} // namespace hbf::tools::plugin
