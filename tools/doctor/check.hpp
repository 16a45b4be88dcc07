// SPDX-License-Identifier: Apache-2.0
// A check as data. To add one: a function and a row in the file of its family below checks/, a line in docs/doctor.md.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace hbf::tools::doctor {

class Look;

struct Check {
    std::string_view id;     // "iommu.translation"; what stands before the point is the family
    std::string_view title;  // what has to hold, for a table
    std::string_view reads;  // where it looks
    std::string_view why;    // what goes wrong otherwise
    std::string_view remedy; // what to do about it
    void (*look)(Look &);
};

std::span<const Check> host_checks();
std::span<const Check> kernel_checks();
std::span<const Check> memory_checks();
std::span<const Check> numa_checks();
std::span<const Check> limit_checks();
std::span<const Check> cgroup_checks();
std::span<const Check> pci_checks();
std::span<const Check> iommu_checks();
std::span<const Check> ecc_checks();
std::span<const Check> storage_checks();
std::span<const Check> nvme_checks();
std::span<const Check> cxl_checks();
std::span<const Check> accelerator_checks();
std::span<const Check> direct_checks(); // storage and network straight to an accelerator's memory
std::span<const Check> environment_checks();
std::span<const Check> version_checks();

std::vector<Check> all_checks(); // in the order they are shown

} // namespace hbf::tools::doctor
