// SPDX-License-Identifier: Apache-2.0
// Which transfers a run measures.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "conformance/measure/transfer.hpp"
#include "tools/bandwidth/machine.hpp"
#include "tools/bandwidth/options.hpp"

namespace hbf::tools::bandwidth {

struct RowSpec {
    size_t src = 0, dst = 0; // places
    std::string what = {};   // its shape where that is the point: "2 MiB a copy"; "" for the row of a tier
    uint64_t op_size = 0;    // bytes of one copy command, 0: as asked for on the command line
    uint64_t bytes = 0;      // moved in a pass; 0: enough to defeat the cache with `what`, else the whole buffer
    uint32_t depth = 0;      // batches in flight, 0: as asked for
    uint32_t batch_ops = 0;  // copies in a batch at most, 0: what the queue takes
    measure::Order order = measure::Order::in_place;
    measure::Work work = measure::Work::copy; // by the copy engine, or by a kernel of the device
    int executor_node = -1; // NUMA node of the submitting thread and of the reference copies, -1: that of the memory
    // Rows of a pair that runs in both directions at once stand together: forward, backward, both.
    enum class Direction : uint8_t { alone, forward, backward, both } direction = Direction::alone;
    bool operator==(const RowSpec &) const = default;
};

bool is_storage(const TierInfo &tier);  // reached by queue commands only, on a block device, in files or objects
std::string kind_name(TierKind kind);   // "hbm"
std::string media_name(uint32_t media); // "DRAM"
std::string label(const Machine &machine, size_t place); // "dram0 (hbm, DRAM, node 0)"

std::string_view kernel_of(measure::Work work); // "copy/1"; "" for the copy engine

std::vector<RowSpec> executor_rows(const Machine &machine, const std::vector<RowSpec> &rows); // each row from each node

// Memory tiers copy within themselves; storage is written from and read into the first memory tier of its device. With
// `matrix` every ordered pair, also by the kernels of the device that reach both; with `bidirectional` every pair of two
// tiers in both directions at once. The error names an unknown tier or device, with the nearest known one.
tl::expected<std::vector<RowSpec>, std::string> choose_rows(const Machine &machine, const Options &options);

} // namespace hbf::tools::bandwidth
