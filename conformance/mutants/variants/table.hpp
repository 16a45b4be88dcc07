// SPDX-License-Identifier: Apache-2.0
// A base table of a variant's own: the wrapper's, with something changed.
#pragma once

#include "conformance/inject/wrapper.hpp"
#include "hbf/abi.h"

// The one exported symbol; the body answers.
#define HBF_VARIANT_QUERY(most, host)                                                                                       \
    extern "C" __attribute__((visibility("default"))) const hbf_plugin *hbf_plugin_query(                                   \
        uint32_t most, const hbf_host_info *host) noexcept;                                                                 \
    const hbf_plugin *hbf_plugin_query([[maybe_unused]] uint32_t most, [[maybe_unused]] const hbf_host_info *host) noexcept

// A plugin whose table is the wrapper's after `change`.
#define HBF_VARIANT_TABLE(change)                                                                                           \
    HBF_VARIANT_QUERY(most, host) {                                                                                         \
        static const hbf_plugin table = [] {                                                                                \
            hbf_plugin made = hbf::inject::base_table();                                                                    \
            change(made);                                                                                                   \
            return made;                                                                                                    \
        }();                                                                                                                \
        return hbf::inject::answer_query(table, most, host);                                                                \
    }                                                                                                                       \
    static_assert(true, "needs a semicolon")
