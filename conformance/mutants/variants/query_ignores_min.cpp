// SPDX-License-Identifier: Apache-2.0
// Hosts that serve later versions only are answered.
#include "conformance/mutants/variants/table.hpp"

HBF_VARIANT_QUERY(most, host) {
    if (!host || host->struct_size < HBF_HOST_INFO_MIN_SIZE) return nullptr;
    return HBF_ABI_VERSION <= most ? &hbf::inject::base_table() : nullptr;
}
