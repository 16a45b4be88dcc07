// SPDX-License-Identifier: Apache-2.0
// Takes an id it does not know for the first it does.
#include "conformance/mutants/variants/table.hpp"

namespace {
const void *get_extension(hbf_instance *instance, hbf_string id) noexcept {
    const auto real = hbf::inject::base_table().get_extension;
    const void *const known = real(instance, id);
    constexpr char tier[] = HBF_EXT_TIER;
    return known ? known : real(instance, {tier, sizeof tier - 1});
}
void change(hbf_plugin &table) {
    table.get_extension = get_extension;
}
} // namespace

HBF_VARIANT_TABLE(change);
