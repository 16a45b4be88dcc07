// SPDX-License-Identifier: Apache-2.0
// One created instance of the plugin under test: its tables and facts, and its calls one to one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/suite/call.hpp"
#include "hbf/abi.h"

namespace hbf::conformance {

class Subject;

// Calls may be made from any thread, as the ABI allows them.
class Instance {
public:
    Instance(const Subject &subject, hbf_instance *handle); // takes `handle` over; fails the case if tables are missing
    ~Instance();                                            // destroys it
    Instance(const Instance &) = delete;
    Instance &operator=(const Instance &) = delete;

    hbf_instance *handle() const { return handle_; }
    hbf_instance *release(); // the caller destroys it
    const hbf_tier_ext &tier_table() const { return *tier_; }
    const hbf_queue_ext &queue_table() const { return *queue_; }
    const hbf_coherence_ext *coherence_table() const { return coherence_; } // nullptr: absent or masked
    const hbf_kernels_ext *kernels_table() const { return kernels_; }
    const hbf_health_ext *health_table() const { return health_; }
    const void *extension(std::string_view id) const; // asks the plugin, unmasked

    uint32_t capabilities() const { return capabilities_; }            // need:: bits that are declared and not masked
    const std::vector<hbf_tier_info> &tiers() const { return tiers_; } // as of creation
    const hbf_tier_info &tier(uint32_t index) const { return tiers_.at(index); }
    hbf_tier_info describe(uint32_t tier) const; // now
    const std::vector<hbf_domain_info> &domains() const { return domains_; }
    const hbf_domain_info *domain_of(uint32_t tier) const;           // nullptr: none
    const hbf_queue_info &queue_info() const { return queue_info_; } // capabilities without the masked ones
    bool cpu_access(uint32_t tier) const { return tiers_.at(tier).access & HBF_ACCESS_CPU; }

    // First tiers of a sort; each fails the case if there is none (declare the need first).
    uint32_t cpu_tier() const;      // CPU and DMA access
    uint32_t dma_only_tier() const; // DMA access, no CPU access
    uint32_t persistent_tier() const;
    uint32_t software_tier() const;          // CPU access, software domain
    std::vector<uint32_t> dma_tiers() const; // every tier that commands reach

    Call alloc(uint32_t tier, uint64_t size, hbf_region_info &out, uint64_t alignment = 0, const std::string &name = {},
               uint32_t flags = 0, hbf_pages pages = HBF_PAGES_DEFAULT) const;
    hbf_region_info must_alloc(uint32_t tier, uint64_t size, uint64_t alignment = 0) const;
    Call free(hbf_region region) const;
    void must_free(hbf_region region) const;
    Call register_host(void *address, uint64_t size, hbf_region_info &out) const;

    Call create_queue(hbf_queue *&out, uint32_t depth = 0, uint32_t commands = 0) const;
    // No queue and the value 0, should a plugin give them, are refused by the next call that gets them.
    hbf_queue *must_create_queue(uint32_t depth = 0, uint32_t commands = 0) const;
    Call destroy_queue(hbf_queue *queue) const;
    void must_destroy_queue(hbf_queue *queue) const;

    Call submit(hbf_queue *queue, const std::vector<hbf_command> &commands, uint64_t &value) const;
    uint64_t must_submit(hbf_queue *queue, const std::vector<hbf_command> &commands) const;
    hbf_progress poll(hbf_queue *queue) const; // fails the case if poll does
    Call wait(hbf_queue *queue, uint64_t value, uint64_t timeout_ns = 10'000'000'000) const;
    Call cancel(hbf_queue *queue, uint64_t value) const;
    Call failure(hbf_queue *queue) const; // status HBF_OK: there was one, and message and place are set
    // Waits until `value` completed. Fails the case after the watchdog's half (fault::never_completes), or if it failed.
    void must_complete(hbf_queue *queue, uint64_t value) const;
    void must_run(hbf_queue *queue, const std::vector<hbf_command> &commands) const; // submit, then complete

    std::vector<hbf_reading> must_read_health() const;

private:
    const Subject *subject_;
    hbf_instance *handle_;
    const hbf_tier_ext *tier_ = nullptr;
    const hbf_queue_ext *queue_ = nullptr;
    const hbf_coherence_ext *coherence_ = nullptr;
    const hbf_kernels_ext *kernels_ = nullptr;
    const hbf_health_ext *health_ = nullptr;
    uint32_t capabilities_ = 0;
    std::vector<hbf_tier_info> tiers_;
    std::vector<hbf_domain_info> domains_;
    hbf_queue_info queue_info_{};
};

} // namespace hbf::conformance
