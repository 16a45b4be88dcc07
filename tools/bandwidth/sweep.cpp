// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/sweep.hpp"

#include <fmt/format.h>

#include "core/output/size.hpp"

namespace hbf::tools::bandwidth {
namespace {

constexpr uint64_t granule = 64 << 10, large_page = 2 << 20, list = 16 << 20;
constexpr uint64_t smallest_copy = 4 << 10, largest_copy = 1 << 30;

} // namespace

std::vector<RowSpec> sweep_of(const RowSpec &row, bool storage, uint64_t largest) {
    std::vector<RowSpec> out;
    auto add = [&](uint64_t op_size, const std::string &what) -> RowSpec & {
        out.push_back(row);
        out.back().op_size = op_size;
        out.back().what = what;
        return out.back();
    };
    auto add_size = [&](uint64_t size) {
        if (size <= largest) add(size, format_size(size) + " a copy");
    };
    add_size(granule);
    add_size(large_page);
    if (!storage && granule <= largest) add(granule, "64 KiB a copy, cache-hot").bytes = granule;
    const uint64_t blocks = std::min(list, largest) / granule;
    if (blocks > 1) {
        const auto name = fmt::format("{} x 64 KiB", blocks);
        add(blocks * granule, name + ", one contiguous copy");
        for (auto [order, text] : {std::pair{measure::Order::gather, "gathered"}, {measure::Order::scatter, "scattered"}}) {
            auto &one = add(granule, fmt::format("{}, {}", name, text));
            one.order = order;
            one.batch_ops = static_cast<uint32_t>(blocks);
        }
    }
    for (uint32_t depth : {1u, 2u, 4u, 16u}) {
        if (granule > largest) break;
        auto &one = add(granule, fmt::format("64 KiB a copy, queue depth {}", depth));
        one.depth = depth;
        one.batch_ops = 1;
    }
    for (uint64_t size = smallest_copy; size <= largest_copy; size *= 2) {
        if (size != granule && size != large_page) add_size(size);
    }
    return out;
}

} // namespace hbf::tools::bandwidth
