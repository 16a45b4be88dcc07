// SPDX-License-Identifier: Apache-2.0
// A new copy of the health table at each call.
#include <list>
#include <mutex>
#include <string_view>

#include "conformance/mutants/variants/table.hpp"

namespace {
const void *get_extension(hbf_instance *instance, hbf_string id) noexcept {
    const void *const table = hbf::inject::base_table().get_extension(instance, id);
    if (!table || std::string_view(id.data, id.size) != HBF_EXT_HEALTH) return table;
    static std::mutex mutex;
    static std::list<hbf_health_ext> copies;
    const std::lock_guard lock(mutex);
    return &copies.emplace_back(*static_cast<const hbf_health_ext *>(table));
}
void change(hbf_plugin &table) {
    table.get_extension = get_extension;
}
} // namespace

HBF_VARIANT_TABLE(change);
