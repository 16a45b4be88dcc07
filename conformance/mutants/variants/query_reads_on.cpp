// SPDX-License-Identifier: Apache-2.0
// Reads the host's facts past their end.
#include "conformance/mutants/variants/table.hpp"

HBF_VARIANT_QUERY(most, host) {
    if (host) {
        const auto *const bytes = reinterpret_cast<const volatile unsigned char *>(host);
        (void)bytes[host->struct_size];
    }
    return hbf::inject::answer_query(hbf::inject::base_table(), most, host);
}
