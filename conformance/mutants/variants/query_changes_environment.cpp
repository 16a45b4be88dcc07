// SPDX-License-Identifier: Apache-2.0
// The query and create leave a variable in the environment.
#include <cstdlib>
#include <string>

#include "conformance/mutants/variants/table.hpp"

namespace {
void leave(const char *name) {
    static int calls = 0;
    setenv(name, std::to_string(++calls).c_str(), 1);
}
hbf_status create(const hbf_create_in *in, hbf_instance **out, hbf_error *error) noexcept {
    leave("HBF_VARIANT_CREATE");
    return hbf::inject::base_table().create(in, out, error);
}
} // namespace

HBF_VARIANT_QUERY(most, host) {
    static const hbf_plugin table = [] {
        hbf_plugin made = hbf::inject::base_table();
        made.create = create;
        return made;
    }();
    leave("HBF_VARIANT_QUERY");
    return hbf::inject::answer_query(table, most, host);
}
