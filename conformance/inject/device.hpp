// SPDX-License-Identifier: Apache-2.0
// The lowest layer: the real plugin, its instance and its tables. Nothing is changed here but the queues that a wait names,
// which are the wrapper's up here and the plugin's down there.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/inject/kernel_book.hpp"
#include "conformance/inject/layer.hpp"
#include "conformance/inject/region_book.hpp"

namespace hbf::inject {

class Touch;

class Device final : public Layer {
public:
    // `watched`: faults will ask for regions and bytes; without, nothing is kept about them.
    Device(const hbf_plugin &plugin, bool watched);
    ~Device() override;

    // For faults.
    const hbf_plugin &plugin() const { return plugin_; }
    hbf_instance *instance() const { return instance_; }
    const hbf_tier_ext &tier_table() const { return *tier_; }
    const hbf_queue_ext &queue_table() const { return *queue_; }
    const hbf_host_services *services() const { return services_; }
    const std::vector<hbf_tier_info> &tiers() const { return tiers_; }
    bool software(uint32_t tier) const; // CPU stores in this tier's mappings need flush, loads invalidate
    const RegionBook &regions() const { return regions_; }
    const KernelBook &kernels() const { return kernel_book_; }
    Touch &touch() { return *touch_; }
    void forget(Queue &queue);            // the host thinks that it has ended
    Queue *live_queue(hbf_queue *handle); // nullptr: no queue of this instance
    uint32_t max_commands() const { return max_commands_; }

    hbf_status probe(const hbf_probe_in *in, hbf_probe_out *out, hbf_error *e) override;
    hbf_status create(const hbf_create_in *in, hbf_error *e) override;
    void destroy() override;
    void shape(Tables &tables) override;
    hbf_status describe_tier(uint32_t tier, hbf_tier_info *out, hbf_error *e) override;
    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override;
    hbf_status free(hbf_region region, hbf_error *e) override;
    hbf_status register_host(void *address, uint64_t size, hbf_region_info *out, hbf_error *e) override;
    hbf_status export_region(hbf_region region, void *handle, uint64_t *size, hbf_error *e) override;
    hbf_status import_region(const void *handle, uint64_t size, hbf_region_info *out, hbf_error *e) override;
    hbf_status queue_info(hbf_queue_info *out, hbf_error *e) override;
    hbf_status create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) override;
    hbf_status destroy_queue(Queue &queue, hbf_error *e) override;
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override;
    hbf_status poll(Queue &queue, hbf_progress *out) override;
    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override;
    hbf_status cancel(Queue &queue, uint64_t value, hbf_error *e) override;
    hbf_status failure(Queue &queue, hbf_error *e) override;
    hbf_status describe_domain(uint32_t domain, hbf_domain_info *out, hbf_error *e) override;
    hbf_status find_kernel(hbf_string name, hbf_kernel_info *out, hbf_error *e) override;
    hbf_status kernel_name(uint32_t index, hbf_string *out, hbf_error *e) override;
    hbf_status read_health(hbf_reading *readings, uint64_t stride, uint32_t capacity, uint32_t *count,
                           hbf_error *e) override;

private:
    void look_around();
    hbf_status note(hbf_status status, hbf_region_info *out, hbf_error *e);

    const hbf_plugin &plugin_;
    const bool watched_;
    hbf_instance *instance_ = nullptr;
    const hbf_host_services *services_ = nullptr;
    const hbf_tier_ext *tier_ = nullptr;
    const hbf_queue_ext *queue_ = nullptr;
    const hbf_coherence_ext *coherence_ = nullptr;
    const hbf_kernels_ext *kernels_ = nullptr;
    const hbf_health_ext *health_ = nullptr;
    uint32_t max_commands_ = 0;
    std::vector<hbf_tier_info> tiers_;
    std::vector<bool> software_domains_;
    RegionBook regions_;
    KernelBook kernel_book_;
    std::unique_ptr<Touch> touch_;
    std::mutex queues_mutex_;
    std::vector<Queue *> queues_; // alive, for waits that name one
};

} // namespace hbf::inject
