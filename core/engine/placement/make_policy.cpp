// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "core/engine/placement/arc.hpp"
#include "core/engine/placement/heat_cache.hpp"
#include "core/engine/placement/lru.hpp"
#include "core/engine/placement/s3fifo.hpp"

namespace hbf::kv::placement {

const std::vector<std::string> &policy_names() {
    static const std::vector<std::string> names = {"ahas", "lru", "s3fifo", "arc"};
    return names;
}

tl::expected<std::unique_ptr<Policy>, std::string> make_policy(std::string_view name, size_t capacity, size_t blocks,
                                                               const PolicyOptions &options) {
    if (capacity == 0) return tl::unexpected(fmt::format("policy '{}': a cache of no block holds nothing", name));
    if (name == "ahas") {
        HeatOptions heat;
        heat.alpha = options.alpha;
        heat.lower = options.lower;
        return std::make_unique<HeatCache>(capacity, blocks, heat);
    }
    if (name == "lru") return std::make_unique<Lru>(capacity, blocks);
    if (name == "s3fifo") return std::make_unique<S3Fifo>(capacity, blocks);
    if (name == "arc") return std::make_unique<Arc>(capacity, blocks);
    return tl::unexpected(fmt::format("no policy is named '{}': there are {}", name, fmt::join(policy_names(), ", ")));
}

} // namespace hbf::kv::placement
