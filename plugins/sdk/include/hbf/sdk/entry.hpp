// SPDX-License-Identifier: Apache-2.0
// Turns a Plugin class (plugin.hpp) into a plugin: HBF_PLUGIN(ThatClass), once, in one source file.
//
// The shell behind it (shell/) makes the C tables: it checks pointers and struct sizes, reads and writes only inside them,
// turns exceptions into statuses and messages, keeps count of queues, and refuses what any device must refuse.
#pragma once

#include "hbf/sdk/plugin.hpp"
#include "hbf/sdk/shell/plugin_shell.hpp"

#define HBF_PLUGIN(Class)                                                                                                   \
    extern "C" __attribute__((visibility("default"))) const hbf_plugin *hbf_plugin_query(                                   \
        uint32_t host_abi_max, const hbf_host_info *host) noexcept;                                                         \
    const hbf_plugin *hbf_plugin_query(uint32_t host_abi_max, const hbf_host_info *host) noexcept {                         \
        return ::hbf::sdk::shell::query<Class>(host_abi_max, host);                                                         \
    }                                                                                                                       \
    static_assert(true, "needs a semicolon")
