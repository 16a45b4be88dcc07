// SPDX-License-Identifier: Apache-2.0
// An opened device: its tiers, regions and queues.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "hbf/abi/plugin.h"
#include "hbf/kernel.hpp"
#include "hbf/queue.hpp"
#include "hbf/region.hpp"
#include "hbf/selection.hpp"
#include "hbf/status.hpp"
#include "hbf/tier.hpp"

namespace hbf {

namespace fabric {
class DeviceCore;
}

struct DeviceOptions {
    std::string device_id;                                    // "" : the first that probe reports
    std::vector<std::pair<std::string, std::string>> options; // to the plugin's create
    std::string system_root = "/";
    bool litmus = true; // verify declared coherence modes at open

    // What selection learnt already. Without it the plugin is asked again here, in this process.
    std::optional<ProbedDevice> probed = {};
    // With both, a litmus result is kept for the next process too ($XDG_CACHE_HOME/hbf/litmus), until either or the driver
    // changes; else for this process only.
    std::string plugin_sha256 = {}, boot_id = {};
};

// One verified coherence declaration.
struct LitmusReport {
    std::string domain;
    std::string observed;    // "hardware", "software", "not observable: ..."
    uint64_t trials = 0;     // messages passed, by the copy engine and between CPUs
    double milliseconds = 0; // how long that took, also when it was in an earlier process
    bool cached = false;     // taken from an earlier run
};

struct HealthReading {
    std::string name, unit;
    bool counter = false;
    uint64_t value = 0;
};

class HBF_API Device {
public:
    // Opens one device of a plugin. A coherence declaration that the litmus run contradicts is refused (Code::data_loss,
    // saying what was declared and what was seen).
    static Result<Device> open(const hbf_plugin *plugin, const DeviceOptions &options = {});

    const std::string &plugin_name() const;
    const std::string &id() const;
    const std::string &name() const;
    bool emulated() const;
    uint32_t number() const; // Region.device

    std::span<const TierInfo> tiers() const;
    std::span<const DomainInfo> domains() const;
    std::span<const LitmusReport> litmus() const;
    Result<TierInfo> refresh(uint32_t tier) const; // `available` as of now
    std::optional<uint32_t> find_tier(std::string_view name) const;

    // [any thread]
    Result<RegionInfo> allocate(uint32_t tier, uint64_t size, const AllocateOptions &options = {});
    Result<RegionInfo> register_host(std::span<std::byte> memory); // stays the caller's, must outlive the region
    Result<> free(Region region);                                  // Code::busy while work names it, Code::invalid if stale
    Result<RegionInfo> describe(Region region) const;
    // Tells the fabric that the CPU wrote through the mapping: recorded checksums of the range are dropped.
    Result<> written_by_cpu(Region region, uint64_t offset, uint64_t size);

    Result<Queue> create_queue(const QueueOptions &options = {});
    Result<std::vector<HealthReading>> health() const; // Code::unsupported if the plugin has none

    // [any thread] Names of the kernels that this device can run, the plugin's order; nothing is built. Empty: it has none.
    Result<std::vector<std::string>> kernels() const;
    // [any thread] Builds it if need be, which may take seconds; the same id each time. Code::unsupported: the device has no
    // such kernel; Code::unavailable: it does not build, with the compiler's first words.
    Result<KernelInfo> find_kernel(std::string_view name) const;

    explicit Device(std::shared_ptr<fabric::DeviceCore> core);

private:
    std::shared_ptr<fabric::DeviceCore> core_;
};

} // namespace hbf
