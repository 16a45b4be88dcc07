// SPDX-License-Identifier: Apache-2.0
// Answers every host, and takes structs of its own size only.
#include "conformance/mutants/variants/table.hpp"

namespace {
hbf_status probe(const hbf_probe_in *in, hbf_probe_out *out, hbf_error *error) noexcept {
    if (in && in->struct_size > sizeof *in) return HBF_INVALID;
    return hbf::inject::base_table().probe(in, out, error);
}
hbf_status create(const hbf_create_in *in, hbf_instance **out, hbf_error *error) noexcept {
    if (in && in->struct_size > sizeof *in) return HBF_INVALID;
    return hbf::inject::base_table().create(in, out, error);
}
} // namespace

HBF_VARIANT_QUERY(most, host) {
    static const hbf_plugin table = [] {
        hbf_plugin made = hbf::inject::base_table();
        made.probe = probe;
        made.create = create;
        return made;
    }();
    return &table;
}
