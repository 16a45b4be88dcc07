// SPDX-License-Identifier: Apache-2.0
// Refuses host facts that are longer than those it knows.
#include "conformance/mutants/variants/table.hpp"

HBF_VARIANT_QUERY(most, host) {
    if (host && host->struct_size > sizeof *host) return nullptr;
    return hbf::inject::answer_query(hbf::inject::base_table(), most, host);
}
