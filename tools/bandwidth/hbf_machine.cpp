// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/hbf_machine.hpp"

#include <map>

#include <fmt/format.h>

#include "tools/bandwidth/hbf_target.hpp"
#include "tools/bandwidth/rows.hpp"

namespace hbf::tools::bandwidth {
namespace {

class HbfMachine : public Machine {
public:
    HbfMachine(System &system, std::function<bool()> stop) : system_(system), stop_(std::move(stop)) {
        for (size_t i = 0; i < system_.devices().size(); ++i) {
            const auto &device = system_.devices()[i];
            for (const auto &tier : device.tiers()) {
                places_.push_back({i, device.id().empty() ? device.plugin_name() : device.id(), plugin_of(device),
                                   device.name(), device.emulated(), tier});
            }
        }
    }

    const std::vector<Place> &places() const override { return places_; }
    const Inventory &inventory() const override { return system_.selection().inventory; }

    uint64_t available(size_t place) override {
        const auto &p = places_[place];
        auto now = system_.devices()[p.device].refresh(p.tier.index);
        return now ? now->available : p.tier.available;
    }

    Result<measure::Buffer> allocate(size_t place, uint64_t size, Pages pages) override {
        const auto &p = places_[place];
        return system_.devices()[p.device].allocate(p.tier.index, size, {.pages = pages}).map([](const RegionInfo &info) {
            return measure::Buffer{info.region, info.size, info.address, info.page_size};
        });
    }

    void free(const measure::Buffer &buffer) override {
        for (auto &device : system_.devices()) {
            // Busy after an interruption: the queue's end waits for the work, the region ends with the device.
            if (device.number() == buffer.region.device) (void)device.free(buffer.region);
        }
    }

    Result<measure::Target *> executor(size_t device, size_t lane, QueueShape &shape) override {
        const std::pair key{device, lane};
        if (auto known = targets_.find(key); known != targets_.end()) {
            shape = shapes_[key];
            return known->second.get();
        }
        auto &dev = system_.devices()[device];
        Result<Queue> queue = dev.create_queue({shape.depth, shape.commands + 1}); // one for the gate's wait
        const bool gate_apart = !queue;
        if (gate_apart) queue = dev.create_queue({shape.depth + 1, shape.commands});
        while (!queue && (shape.commands > 1 || shape.depth > 1)) {
            shape.commands = std::max(1u, shape.commands / 2);
            if (shape.commands == 1) shape.depth = std::max(1u, shape.depth / 2);
            queue = dev.create_queue({shape.depth + 1, shape.commands});
        }
        if (!queue) return tl::unexpected(queue.error());
        auto target = std::make_unique<HbfTarget>(system_.devices(), dev, std::move(*queue), gate_apart, stop_);
        for (const auto &place : places_) {
            if (lane != 0 || place.device != device || is_storage(place.tier)) continue;
            target->make_gate(dev, place.tier.index);
            break;
        }
        shapes_[key] = shape;
        return (targets_[key] = std::move(target)).get();
    }

    std::string executor_name(size_t device) const override {
        return fmt::format("{} queue", system_.devices()[device].plugin_name());
    }

    std::vector<std::string> kernels(size_t device) const override {
        return system_.devices()[device].kernels().value_or(std::vector<std::string>());
    }

    std::vector<std::string> pci_addresses(size_t device) const override {
        std::vector<std::string> out;
        const auto &dev = system_.devices()[device];
        for (const auto &candidate : system_.selection().candidates) {
            if (candidate.name != dev.plugin_name()) continue;
            for (const auto &probed : candidate.devices) {
                if (probed.id == dev.id() && !probed.pci_address.empty()) out.push_back(probed.pci_address);
            }
        }
        return out;
    }

    std::vector<HealthReading> health(size_t device) const override {
        const auto [known, added] = health_.try_emplace(device);
        if (added) known->second = system_.devices()[device].health().value_or(std::vector<HealthReading>());
        return known->second;
    }

private:
    std::string plugin_of(const Device &device) const {
        for (const auto &candidate : system_.selection().candidates) {
            if (candidate.plugin != nullptr && candidate.name == device.plugin_name()) {
                return fmt::format("{} {}", candidate.name, candidate.version);
            }
        }
        return device.plugin_name();
    }

    System &system_;
    std::function<bool()> stop_;
    std::vector<Place> places_;
    std::map<std::pair<size_t, size_t>, std::unique_ptr<HbfTarget>> targets_; // by device and lane
    std::map<std::pair<size_t, size_t>, QueueShape> shapes_;
    mutable std::map<size_t, std::vector<HealthReading>> health_; // by device
};

} // namespace

std::unique_ptr<Machine> make_hbf_machine(System &system, std::function<bool()> stop) {
    return std::make_unique<HbfMachine>(system, std::move(stop));
}

} // namespace hbf::tools::bandwidth
