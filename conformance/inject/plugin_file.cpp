// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/plugin_file.hpp"

#include <map>
#include <mutex>

#include <dlfcn.h>
#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/shell/build_facts.hpp"

namespace hbf::inject {

namespace {

const hbf_plugin &open_new(const std::string &path) {
    if (path.empty() || path[0] != '/')
        sdk::fail(HBF_INVALID, fmt::format("option inject.plugin: \"{}\" is not an absolute path", path));
    void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) {
        const char *why = dlerror();
        sdk::fail(HBF_UNAVAILABLE, fmt::format("inject.plugin: {}", why ? why : path));
    }
    void *symbol = dlsym(library, HBF_PLUGIN_QUERY_SYMBOL);
    if (!symbol) sdk::fail(HBF_UNSUPPORTED, fmt::format("inject.plugin: {} exports no " HBF_PLUGIN_QUERY_SYMBOL, path));

    static constexpr char name[] = "hbf-inject", version[] = HBF_INJECT_VERSION;
    hbf_host_info host{};
    host.struct_size = sizeof host;
    host.abi_min = HBF_ABI_VERSION;
    host.sanitizer = sdk::shell::sanitizer_kind;
    host.name = {name, sizeof name - 1};
    host.version = {version, sizeof version - 1};
    const hbf_plugin *plugin = reinterpret_cast<hbf_plugin_query_fn>(symbol)(HBF_ABI_VERSION, &host);
    if (!plugin || plugin->struct_size < HBF_PLUGIN_MIN_SIZE)
        sdk::fail(HBF_UNSUPPORTED, fmt::format("inject.plugin: {} serves no ABI version from {}.{} to {}.{}", path,
                                               HBF_ABI_MAJOR_OF(host.abi_min), HBF_ABI_MINOR_OF(host.abi_min),
                                               HBF_ABI_MAJOR_OF(HBF_ABI_VERSION), HBF_ABI_MINOR_OF(HBF_ABI_VERSION)));
    if (plugin->sanitizer != host.sanitizer)
        sdk::fail(HBF_UNSUPPORTED, fmt::format("inject.plugin: {} was built with another sanitizer than the wrapper", path));
    return *plugin;
}

} // namespace

const hbf_plugin &open_plugin(const std::string &path) {
    static std::mutex mutex;
    static auto *const opened = new std::map<std::string, const hbf_plugin *>; // as long as the process, as plugins are
    std::lock_guard lock(mutex);
    const auto found = opened->find(path);
    if (found != opened->end()) return *found->second;
    return *opened->emplace(path, &open_new(path)).first->second;
}

} // namespace hbf::inject
