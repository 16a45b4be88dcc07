// SPDX-License-Identifier: Apache-2.0
// The machine under test as the bandwidth run sees it: tiers, memory in them, and a queue to each device. The fabric stands
// behind it in earnest; tests bring their own, honest or lying.
#pragma once

#include <string>
#include <vector>

#include "conformance/measure/target.hpp"
#include "hbf/device.hpp"
#include "hbf/inventory.hpp"
#include "hbf/tier.hpp"

namespace hbf::tools::bandwidth {

struct Place { // a tier of a device
    size_t device = 0;
    std::string device_name; // "host"
    std::string plugin;      // "host 0.1.0"
    std::string model;       // what the device is called: "NVIDIA H100 80GB HBM3"
    bool emulated = false;
    TierInfo tier;
};

struct QueueShape {
    uint32_t depth = 0;    // batches in flight
    uint32_t commands = 0; // in a batch
};

class Machine {
public:
    virtual ~Machine() = default;
    virtual const std::vector<Place> &places() const = 0;
    virtual const Inventory &inventory() const = 0;
    virtual uint64_t available(size_t place) = 0; // bytes, as of now
    // Pages that cannot be had are Code::unavailable, never silently smaller ones; Buffer.page_size is verified.
    virtual Result<measure::Buffer> allocate(size_t place, uint64_t size, Pages pages) = 0;
    virtual void free(const measure::Buffer &buffer) = 0;

    // A queue of the device, made at first use; `shape` is what it will take, at most what was asked for. Lane 0 has a gate;
    // others are for what runs at the same time, each from a thread of its own.
    virtual Result<measure::Target *> executor(size_t device, size_t lane, QueueShape &shape) = 0;
    virtual std::string executor_name(size_t device) const = 0; // "host queue"
    // Names of the kernels its processors can run; nothing is built for it.
    virtual std::vector<std::string> kernels(size_t) const { return {}; }
    virtual std::vector<std::string> pci_addresses(size_t device) const = 0;
    // How many times too slow the plain copies of a run may be. Tests run beside each other, where a thread can wait for a
    // CPU as long as it has one.
    virtual double reference_slack() const { return 1; }
    // What the device says of itself, as it was when first asked; nothing where its plugin has no readings.
    virtual std::vector<HealthReading> health(size_t) const { return {}; }
};

} // namespace hbf::tools::bandwidth
