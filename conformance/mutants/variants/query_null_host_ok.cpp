// SPDX-License-Identifier: Apache-2.0
// Answers a host that gives no facts.
#include "conformance/mutants/variants/table.hpp"

HBF_VARIANT_QUERY(most, host) {
    return host ? hbf::inject::answer_query(hbf::inject::base_table(), most, host) : &hbf::inject::base_table();
}
