// SPDX-License-Identifier: Apache-2.0
// A library that is loaded well and has no entry point.
#include "conformance/inject/wrapper.hpp"

extern "C" __attribute__((used, visibility("hidden"))) const hbf_plugin *hbf_plugin_enquire() noexcept {
    return &hbf::inject::base_table();
}
