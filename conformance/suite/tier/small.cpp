// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/tier/small.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace hbf::conformance {

std::unique_ptr<Instance> small_instance(Subject &subject) {
    using Options = std::vector<std::pair<std::string, std::string>>;
    static const Options sets[] = {
        {{"dram_bytes", "24MiB"}, {"hbf_bytes", "24MiB"}, {"storage_bytes", "24MiB"}},
        {{"device_bytes", "16MiB"}, {"mapped_bytes", "16MiB"}, {"svm_bytes", "16MiB"}},
        {{"sim.vram", "16MiB"}, {"sim.hbf", "16MiB"}, {"sim.cold", "16MiB"}},
    };
    for (Options options : sets) {
        std::erase_if(options, [&](const auto &option) { // given already, and an option counts once
            const auto &given = subject.options().options;
            return std::any_of(given.begin(), given.end(), [&](const auto &other) { return other.first == option.first; });
        });
        hbf_instance *handle = nullptr;
        const Call call = subject.create(handle, options);
        if (call.ok() && handle) return std::make_unique<Instance>(subject, handle);
        if (call.status != HBF_INVALID) return nullptr; // known, but not possible here
    }
    return nullptr;
}

uint64_t most_taken(const Context &context) {
    return context.scaled(uint64_t{64} << 20, uint64_t{2} << 30, uint64_t{16} << 30);
}

uint64_t share_of(const hbf_tier_info &tier, uint64_t bytes, uint64_t count) {
    const uint64_t granule = std::max<uint64_t>(tier.granule, 1);
    return std::max(granule, bytes / count / granule * granule);
}

} // namespace hbf::conformance
