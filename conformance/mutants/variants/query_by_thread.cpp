// SPDX-License-Identifier: Apache-2.0
// Each thread has a table of its own.
#include "conformance/mutants/variants/table.hpp"

HBF_VARIANT_QUERY(most, host) {
    static thread_local const hbf_plugin table = hbf::inject::base_table();
    return hbf::inject::answer_query(table, most, host);
}
