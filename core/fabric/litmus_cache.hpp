// SPDX-License-Identifier: Apache-2.0
// Litmus results that still hold: for the same library, driver, boot and domain. In this process always, in
// $XDG_CACHE_HOME/hbf/litmus (else ~/.cache/hbf/litmus) where all of them are known.
#pragma once

#include <optional>
#include <string>

#include "core/fabric/coherence.hpp"

namespace hbf::fabric {

class LitmusCache {
public:
    // `subject`: what was tested, e.g. "host host0 dram hardware". Without sha256 and boot id only `plugin` tells libraries
    // apart.
    LitmusCache(const LitmusKey &key, const hbf_plugin *plugin);
    std::optional<LitmusReport> find(const std::string &subject) const;
    void keep(const std::string &subject, const LitmusReport &report) const noexcept; // a failure to keep costs a rerun only

private:
    std::string key_;
    bool on_disk_ = false;
};

} // namespace hbf::fabric
