// SPDX-License-Identifier: Apache-2.0
// Calls that must fail, each for one cause: what the cases about errors have in common.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/case.hpp"
#include "conformance/suite/device.hpp"
#include "conformance/suite/subject.hpp"

namespace hbf::conformance {

struct Provoked {
    std::string what;            // "alloc of size 0"
    std::vector<hbf_status> due; // any of these
    // Makes the call. An out-handle, value or count is set to `poison` before it; what is there afterwards is returned,
    // nothing where the call has none.
    std::function<std::optional<uint64_t>(hbf_error *error, hbf_status &status)> call;
};
inline constexpr uint64_t poison = 0xa5a5a5a5a5a5a5a5u;

// What the failures are provoked on; outlives the list.
class Failures {
public:
    Failures(Subject &subject, Instance &device);
    const std::vector<Provoked> &all() const { return all_; }     // causes of every kind
    const std::vector<Provoked> &nulls() const { return nulls_; } // a NULL where the header allows none

private:
    using OutCall = std::function<hbf_status(hbf_error *, uint64_t &)>;
    void add(std::string what, std::vector<hbf_status> due, std::function<hbf_status(hbf_error *)> call);
    void add_out(std::string what, std::vector<hbf_status> due, OutCall call);
    void add_null(std::string what, std::function<hbf_status(hbf_error *)> call, hbf_status due = HBF_INVALID);
    void of_create();
    void of_tiers();
    void of_regions();
    void of_queues();
    void of_commands();
    void of_extensions();
    void nulls_of_base();
    void nulls_of_tables();

    hbf_status alloc(hbf_error *error, uint64_t &region, const std::function<void(hbf_alloc_desc &)> &change) const;
    hbf_status create(hbf_error *error, uint64_t &out, const hbf_option *option, std::string_view id) const;
    hbf_status submit(hbf_error *error, uint64_t &value, const std::vector<hbf_command> &commands,
                      uint32_t stride = HBF_COMMAND_SIZE) const;

    Subject &subject_;
    Instance &device_;
    Regions regions_;
    Queue queue_;
    hbf_region_info region_, other_;
    hbf_region freed_;
    std::vector<Provoked> all_, nulls_;
};

} // namespace hbf::conformance
