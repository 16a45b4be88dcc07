// SPDX-License-Identifier: Apache-2.0
// Base of faults by which a handle means another region, or another place in it, than the plugin made.
#pragma once

#include <map>
#include <mutex>
#include <optional>

#include "conformance/inject/rewrite_fault.hpp"

namespace hbf::inject {

class TranslateFault : public RewriteFault {
public:
    using RewriteFault::RewriteFault;
    hbf_status free(hbf_region region, hbf_error *e) override;
    hbf_status export_region(hbf_region region, void *handle, uint64_t *size, hbf_error *e) override;

protected:
    struct Meaning {
        hbf_region region = 0; // to free and export
        hbf_region bytes = 0;  // whose bytes commands reach
        uint64_t shift = 0;    // added to their offsets
    };
    void let_mean(hbf_region handle, const Meaning &meaning);
    virtual void freed(hbf_region) {} // by its handle

private:
    bool rewrite(std::vector<hbf_command> &commands) final;
    std::optional<Meaning> meaning(hbf_region handle) const;

    mutable std::mutex mutex_;
    std::map<hbf_region, Meaning> meanings_;
};

} // namespace hbf::inject
