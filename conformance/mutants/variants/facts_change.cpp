// SPDX-License-Identifier: Apache-2.0
// A string of the base table lies where create writes.
#include <cstring>

#include "conformance/mutants/variants/table.hpp"

namespace {
char description[32] = "what it was at first";

hbf_status create(const hbf_create_in *in, hbf_instance **out, hbf_error *error) noexcept {
    std::strcpy(description, "something else");
    return hbf::inject::base_table().create(in, out, error);
}
void change(hbf_plugin &table) {
    table.description = description;
    table.create = create;
}
} // namespace

HBF_VARIANT_TABLE(change);
