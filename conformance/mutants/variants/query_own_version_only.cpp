// SPDX-License-Identifier: Apache-2.0
// Compares for equality: serves hosts of exactly its version.
#include "conformance/mutants/variants/table.hpp"

HBF_VARIANT_QUERY(most, host) {
    return most == HBF_ABI_VERSION ? hbf::inject::answer_query(hbf::inject::base_table(), most, host) : nullptr;
}
