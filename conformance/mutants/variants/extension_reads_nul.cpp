// SPDX-License-Identifier: Apache-2.0
// Takes ids for C strings.
#include <cstring>

#include "conformance/mutants/variants/table.hpp"

namespace {
const void *get_extension(hbf_instance *instance, hbf_string id) noexcept {
    return hbf::inject::base_table().get_extension(instance, {id.data, id.data ? std::strlen(id.data) : 0});
}
void change(hbf_plugin &table) {
    table.get_extension = get_extension;
}
} // namespace

HBF_VARIANT_TABLE(change);
