// SPDX-License-Identifier: Apache-2.0
#include "hbf/inventory.hpp"

#include <fmt/format.h>

#include "core/host/root.hpp"
#include "core/host/sections.hpp"

namespace hbf {

Result<Inventory> read_inventory(const std::filesystem::path &asked) {
    const std::filesystem::path root = host::machine_root(asked);
    std::error_code error;
    if (!std::filesystem::is_directory(root, error)) {
        return fail(Code::unavailable,
                    fmt::format("machine root {}: {}", root.string(), error ? error.message() : "not a directory"));
    }
    Inventory out;
    out.root = root;
    host::Reader reader(root, out.problems);
    host::read_cpu(reader, out);
    host::read_pci(reader, out);
    host::read_acs(reader, out);
    host::read_nodes(reader, out);
    host::read_cxl_dax(reader, out);
    host::read_blocks(reader, out);
    host::read_kernel_settings(reader, out);
    host::read_process_limits(reader, out);
    host::read_cgroup(reader, out);
    return out;
}

} // namespace hbf
