// SPDX-License-Identifier: Apache-2.0
#include "core/loader/bind.hpp"

#include <cstring>

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include "core/loader/text.hpp"
#include "hbf/system.hpp"

namespace hbf::loader {
namespace {

hbf_string view(std::string_view text) {
    return {text.data(), text.size()};
}

tl::unexpected<Refusal> refuse(Reason reason, std::string detail) {
    return tl::unexpected(Refusal{reason, std::move(detail)});
}

// noexcept: an exception that comes out of a plugin ends the probe process, which is the answer.
const hbf_plugin *ask(hbf_plugin_query_fn query, uint32_t abi_min, uint32_t abi_max) noexcept {
    hbf_host_info host = {};
    host.struct_size = sizeof host;
    host.abi_min = abi_min;
    host.sanitizer = host_sanitizer();
    host.name = view("hbf");
    host.version = view(version());
    return query(abi_max, &host);
}

tl::unexpected<Refusal> refuse_version(uint32_t plugin_abi) {
    const std::string serves = fmt::format("this host serves {} to {}", abi_text(host_abi_min), abi_text(host_abi_max));
    if (plugin_abi > host_abi_max) {
        return refuse(Reason::abi_too_new,
                      fmt::format("it was built for ABI {}, {}; remedy: a newer libhbf, or an older build of it",
                                  abi_text(plugin_abi), serves));
    }
    return refuse(Reason::abi_too_old,
                  fmt::format("it was built for ABI {}, {}; remedy: a newer build of it", abi_text(plugin_abi), serves));
}

// NULL means "not for your versions": asked for any version, it tells which it is for.
tl::unexpected<Refusal> explain_null(hbf_plugin_query_fn query) {
    const hbf_plugin *table = ask(query, 0, UINT32_MAX);
    if (!table || table->struct_size < offsetof(hbf_plugin, name)) {
        return refuse(Reason::not_a_plugin, fmt::format("{} answered NULL for every ABI version", HBF_PLUGIN_QUERY_SYMBOL));
    }
    if (table->abi_version >= host_abi_min && table->abi_version <= host_abi_max) {
        return refuse(Reason::not_a_plugin, fmt::format("{} answers NULL for ABI {} although its table says that version",
                                                        HBF_PLUGIN_QUERY_SYMBOL, abi_text(table->abi_version)));
    }
    return refuse_version(table->abi_version);
}

std::string missing_members(const hbf_plugin &table) {
    std::string missing;
    const auto need = [&](const char *name, bool there) {
        if (!there) missing += (missing.empty() ? "" : ", ") + std::string(name);
    };
    need("name", table.name);
    need("vendor", table.vendor);
    need("version", table.version);
    need("description", table.description);
    need("compiler", table.compiler);
    need("build_id", table.build_id);
    need("probe", table.probe);
    need("create", table.create);
    need("destroy", table.destroy);
    need("get_extension", table.get_extension);
    return missing;
}

} // namespace

std::string abi_text(uint32_t version) {
    return fmt::format("{}.{}", HBF_ABI_MAJOR_OF(version), HBF_ABI_MINOR_OF(version));
}

uint32_t host_sanitizer() noexcept {
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
    return HBF_SANITIZER_ADDRESS;
#elif __has_feature(thread_sanitizer)
    return HBF_SANITIZER_THREAD;
#elif __has_feature(memory_sanitizer)
    return HBF_SANITIZER_MEMORY;
#else
    return HBF_SANITIZER_NONE;
#endif
#elif defined(__SANITIZE_ADDRESS__)
    return HBF_SANITIZER_ADDRESS;
#elif defined(__SANITIZE_THREAD__)
    return HBF_SANITIZER_THREAD;
#else
    return HBF_SANITIZER_NONE;
#endif
}

std::string_view sanitizer_name(uint32_t kind) noexcept {
    switch (kind) {
    case HBF_SANITIZER_NONE:
        return "no sanitizer";
    case HBF_SANITIZER_ADDRESS:
        return "the address sanitizer";
    case HBF_SANITIZER_THREAD:
        return "the thread sanitizer";
    case HBF_SANITIZER_MEMORY:
        return "the memory sanitizer";
    default:
        return "an unknown sanitizer";
    }
}

Refusal refusal_of_dlerror(std::string_view message) {
    const auto says = [&](std::string_view words) { return message.find(words) != std::string_view::npos; };
    const std::string shown = printable(message);
    if (says("cannot open shared object file") || says("undefined symbol") || says("' not found") ||
        says("symbol lookup error")) {
        return {Reason::missing_dependency,
                shown + "; remedy: install what it needs, or name its folder in the system's ld.so.conf"};
    }
    if (says("failed to map segment") || says("Operation not permitted")) {
        return {Reason::permission_denied, shown + "; remedy: keep it on a file system that is not mounted noexec"};
    }
    return {Reason::probe_failed, "the dynamic linker refuses it: " + shown};
}

tl::expected<hbf_plugin_query_fn, Refusal> entry_of(void *handle) {
    void *const symbol = dlsym(handle, HBF_PLUGIN_QUERY_SYMBOL);
    if (!symbol) return refuse(Reason::not_a_plugin, fmt::format("it has no symbol {}", HBF_PLUGIN_QUERY_SYMBOL));
    link_map *map = nullptr;
    Dl_info of_symbol = {}, of_library = {};
    // l_ld, the dynamic section, lies inside the library itself.
    if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || dladdr(map->l_ld, &of_library) == 0 ||
        dladdr(symbol, &of_symbol) == 0 || of_library.dli_fbase != of_symbol.dli_fbase) {
        return refuse(Reason::not_a_plugin,
                      fmt::format("{} is not its own but that of {}", HBF_PLUGIN_QUERY_SYMBOL,
                                  of_symbol.dli_fname ? printable(of_symbol.dli_fname) : "another library"));
    }
    return reinterpret_cast<hbf_plugin_query_fn>(symbol);
}

tl::expected<const hbf_plugin *, Refusal> query_table(hbf_plugin_query_fn query, std::string_view expected_name) {
    const hbf_plugin *table = ask(query, host_abi_min, host_abi_max);
    if (!table) return explain_null(query);
    // The first two members are where they are in every version.
    const uint32_t abi = table->abi_version;
    if (table->struct_size >= offsetof(hbf_plugin, name) && (abi < host_abi_min || abi > host_abi_max))
        return refuse_version(abi);
    if (table->struct_size < HBF_PLUGIN_MIN_SIZE) {
        return refuse(Reason::not_a_plugin, fmt::format("its table says {} bytes; a plugin's has at least {}",
                                                        table->struct_size, HBF_PLUGIN_MIN_SIZE));
    }
    if (const std::string missing = missing_members(*table); !missing.empty()) {
        return refuse(Reason::not_a_plugin, fmt::format("its table leaves out (NULL): {}", missing));
    }
    if (table->sanitizer != host_sanitizer()) {
        return refuse(Reason::sanitizer_mismatch,
                      fmt::format("it was built with {}, this host with {}; remedy: build both alike",
                                  sanitizer_name(table->sanitizer), sanitizer_name(host_sanitizer())));
    }
    if (strnlen(table->name, 256) != expected_name.size() || expected_name != table->name) {
        return refuse(Reason::manifest_invalid,
                      fmt::format("the manifest calls it \"{}\", the library itself \"{}\"", expected_name,
                                  printable({table->name, strnlen(table->name, 80)})));
    }
    if (ask(query, host_abi_min, host_abi_max) != table) {
        return refuse(Reason::not_a_plugin, fmt::format("{} does not give the same answer twice", HBF_PLUGIN_QUERY_SYMBOL));
    }
    return table;
}

} // namespace hbf::loader
