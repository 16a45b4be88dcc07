// SPDX-License-Identifier: Apache-2.0
// Crashes at the end of a process that has opened the library and asked it nothing.
#include <csignal>

#include "conformance/mutants/variants/table.hpp"

namespace {
bool queried = false;

__attribute__((destructor)) void stop() {
    if (!queried) std::raise(SIGSEGV);
}
} // namespace

HBF_VARIANT_QUERY(most, host) {
    queried = true;
    return hbf::inject::answer_query(hbf::inject::base_table(), most, host);
}
