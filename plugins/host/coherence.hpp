// SPDX-License-Identifier: Apache-2.0
// Coherence of the host: its copy engine is CPU threads, so the CPU's own caches agree.
#pragma once

#include <filesystem>
#include <string>

#include "hbf/sdk/instance.hpp"

namespace hbf::host {

class HostCoherence final : public sdk::Coherence {
public:
    explicit HostCoherence(const std::filesystem::path &root);
    uint32_t domain_count() const override { return 1; }
    void describe(uint32_t domain, hbf_domain_info &out) const override;

private:
    uint64_t line_ = 0;
    std::string line_source_;
};

} // namespace hbf::host
