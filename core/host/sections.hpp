// SPDX-License-Identifier: Apache-2.0
// The parts of an inventory, each read from its own corner of sysfs and procfs.
#pragma once

#include "core/host/reader.hpp"

namespace hbf::host {

void read_cpu(Reader &reader, Inventory &out); // model, hypervisor, last level cache
void read_pci(Reader &reader, Inventory &out);
void read_acs(Reader &reader, Inventory &out); // after read_pci: looks at its bridges
void read_nodes(Reader &reader, Inventory &out);
void read_cxl_dax(Reader &reader, Inventory &out); // after read_nodes: marks the nodes that CXL or DAX memory backs
void read_blocks(Reader &reader, Inventory &out);
void read_kernel_settings(Reader &reader, Inventory &out); // kernel, boot id, memory management, IOMMU, EDAC
void read_process_limits(Reader &reader, Inventory &out);  // memlock, nofile, cpuset
void read_cgroup(Reader &reader, Inventory &out);

} // namespace hbf::host
