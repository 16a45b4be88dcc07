// SPDX-License-Identifier: Apache-2.0
// Keeps count of queries in its base table.
#include "conformance/mutants/variants/table.hpp"

HBF_VARIANT_QUERY(most, host) {
    static hbf_plugin table = hbf::inject::base_table();
    ++table.flags;
    return hbf::inject::answer_query(table, most, host);
}
