// SPDX-License-Identifier: Apache-2.0
// The one exported symbol of hbf_plugin_inject.so. A variant that is faulty at load time has another file like this one.
#include "conformance/inject/wrapper.hpp"

extern "C" __attribute__((visibility("default"))) const hbf_plugin *hbf_plugin_query(uint32_t host_abi_max,
                                                                                     const hbf_host_info *host) noexcept;
const hbf_plugin *hbf_plugin_query(uint32_t host_abi_max, const hbf_host_info *host) noexcept {
    return hbf::inject::answer_query(hbf::inject::base_table(), host_abi_max, host);
}
