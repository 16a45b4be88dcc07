// SPDX-License-Identifier: Apache-2.0
// What a plugin's device implements: tiers, regions, queues, and whichever optional parts it has.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hbf/abi/coherence.h"
#include "hbf/abi/health.h"
#include "hbf/abi/kernels.h"
#include "hbf/abi/tier.h"
#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/queue.hpp"

namespace hbf::sdk {

struct AllocRequest {
    uint32_t tier = 0;
    uint64_t size = 0, alignment = 0;
    hbf_pages pages = HBF_PAGES_DEFAULT;
    std::string name = {};
    bool open_existing = false;
};

struct QueueRequest {
    uint32_t depth = 0, commands = 0; // 0: the plugin's choice
};

class Coherence {
public:
    virtual ~Coherence() = default;
    virtual uint32_t domain_count() const = 0;
    virtual void describe(uint32_t domain, hbf_domain_info &out) const = 0;
};

class Kernels {
public:
    virtual ~Kernels() = default;
    // The same for the life of the instance, and what the names point to lives as long.
    virtual uint32_t kernel_count() const = 0;
    virtual std::string_view kernel_name(uint32_t index) const = 0; // index < kernel_count()
    virtual void find(std::string_view name, hbf_kernel_info &out) = 0;
};

class Health {
public:
    virtual ~Health() = default;
    virtual std::vector<hbf_reading> read() = 0;
};

// Any thread may call any of these at any time. The shell has checked pointers, sizes, tier indices, that sizes are not 0,
// alignments, page sizes, flags and names, depth and commands against queue_info(), and the number of queues.
class Instance {
public:
    virtual ~Instance() = default; // queues are already gone

    virtual uint32_t tier_count() const = 0;
    virtual void describe_tier(uint32_t tier, hbf_tier_info &out) = 0; // out is full-sized and zeroed
    virtual hbf_region_info alloc(const AllocRequest &request) = 0;
    virtual void free(hbf_region region) = 0;
    // The same for the life of the instance. False: the table has NULL there, and the other is never called.
    virtual bool can_register_host() const { return false; }
    virtual hbf_region_info register_host(void *, uint64_t) {
        fail(HBF_UNSUPPORTED, "this device cannot register host memory");
    }

    virtual hbf_queue_info queue_info() const = 0;
    virtual std::unique_ptr<Queue> create_queue(const QueueRequest &request) = 0;
    // How long destroy waits while nothing of the work in flight gets done. After that the device counts as hung: queues and
    // instance stay as they are for the life of the process, with the memory that the device may yet write to, and the log
    // says so. Not for an instance whose own threads do the work: they end, and must not log once destroy has returned.
    virtual uint64_t end_patience_ns() const { return UINT64_MAX; }

    virtual Coherence *coherence() { return nullptr; }
    virtual Kernels *kernels() { return nullptr; }
    virtual Health *health() { return nullptr; }
};

} // namespace hbf::sdk
