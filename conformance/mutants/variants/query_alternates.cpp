// SPDX-License-Identifier: Apache-2.0
// Another table at every second query.
#include <atomic>

#include "conformance/mutants/variants/table.hpp"

HBF_VARIANT_QUERY(most, host) {
    static const hbf_plugin second = hbf::inject::base_table();
    static std::atomic<unsigned> calls{0};
    const bool other = calls++ == 20;
    return hbf::inject::answer_query(other ? second : hbf::inject::base_table(), most, host);
}
