// SPDX-License-Identifier: Apache-2.0
// The buffers of a run: one source and one destination for each tier that takes part, shared by its rows.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "conformance/measure/plan.hpp"
#include "tools/bandwidth/rows.hpp"

namespace hbf::tools::bandwidth {

class Workbench {
public:
    Workbench(Machine &machine, const std::vector<RowSpec> &rows, const Options &options);
    ~Workbench();
    Workbench(const Workbench &) = delete;
    Workbench &operator=(const Workbench &) = delete;

    struct Pair {
        measure::Buffer src, dst, staging;
        uint64_t bytes = 0, wanted = 0;
    };
    // An error of Code::exhausted: the tier has no room for even the smallest buffer.
    Result<Pair> buffers(const RowSpec &row);

private:
    enum class Role { source, destination, staging, staging_back };
    Result<measure::Buffer> get(size_t place, Role role, uint64_t bytes);
    uint64_t plan(size_t place, uint64_t &wanted);

    Machine &machine_;
    const Options &options_;
    Pages pages_;
    std::map<size_t, uint64_t> roles_;   // buffers each place must hold
    std::map<size_t, uint64_t> planned_; // bytes of each
    std::map<std::pair<size_t, Role>, measure::Buffer> held_;
    uint64_t largest_op_ = 0; // of any row
};

} // namespace hbf::tools::bandwidth
