// SPDX-License-Identifier: Apache-2.0
// Waits at the process's end for instances that nobody destroyed.
#include <atomic>

#include <unistd.h>

#include "conformance/mutants/variants/table.hpp"

namespace {
std::atomic<int> live{0};

hbf_status create(const hbf_create_in *in, hbf_instance **out, hbf_error *error) noexcept {
    const hbf_status status = hbf::inject::base_table().create(in, out, error);
    if (status == HBF_OK) ++live;
    return status;
}
void destroy(hbf_instance *instance) noexcept {
    if (instance) --live;
    hbf::inject::base_table().destroy(instance);
}
__attribute__((destructor)) void stop() {
    while (live > 0) pause();
}
void change(hbf_plugin &table) {
    table.create = create;
    table.destroy = destroy;
}
} // namespace

HBF_VARIANT_TABLE(change);
