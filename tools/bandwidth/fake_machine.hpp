// SPDX-License-Identifier: Apache-2.0
// For tests: a machine over plain memory whose device is honest or lies.
#pragma once

#include "conformance/measure/lying_target.hpp"
#include "tools/bandwidth/machine.hpp"

namespace hbf::tools::bandwidth {

class FakeMachine : public Machine {
public:
    FakeMachine() {
        add("dram0", TierKind::hbm, HBF_MEDIA_DRAM);
        add("hbf0", TierKind::hbf, HBF_MEDIA_DRAM);
        add("storage0", TierKind::cold, HBF_MEDIA_FILE);
        inventory_.cpu_model = "a CPU";
        inventory_.last_level_cache_bytes = 1 << 20;
    }

    Place &add(const std::string &name, TierKind kind, uint32_t media) {
        Place place;
        place.device_name = "host";
        place.plugin = "host 0.1.0";
        place.tier.index = static_cast<uint32_t>(places_.size());
        place.tier.kind = kind;
        place.tier.media = media;
        place.tier.name = name;
        place.tier.cpu_access = place.tier.device_access = media != HBF_MEDIA_FILE;
        place.tier.dma_access = true;
        place.tier.numa_node = 0;
        place.tier.capacity = place.tier.available = uint64_t{1} << 30;
        return places_.emplace_back(place);
    }

    std::vector<Place> places_;
    Inventory inventory_;
    measure::LyingTarget target;
    measure::LyingTarget other_lane{&target}; // a second queue over the same memory
    std::string pci;
    std::vector<std::string> known_kernels;
    std::vector<HealthReading> readings;
    int allocated = 0;
    double slack = 1000;
    std::vector<Pages> asked; // of each allocation

    const std::vector<Place> &places() const override { return places_; }
    const Inventory &inventory() const override { return inventory_; }
    uint64_t available(size_t place) override { return places_[place].tier.available; }
    Result<measure::Buffer> allocate(size_t place, uint64_t size, Pages pages) override {
        asked.push_back(pages);
        if (pages == Pages::p1g) return fail(Code::unavailable, "this kernel has no pool of 1 GiB pages");
        ++allocated;
        return target.make(size, places_[place].tier.cpu_access);
    }
    void free(const measure::Buffer &) override { --allocated; }
    Result<measure::Target *> executor(size_t, size_t lane, QueueShape &) override {
        return lane < 2 ? &target : &other_lane;
    }
    std::string executor_name(size_t) const override { return "fake queue"; }
    std::vector<std::string> kernels(size_t) const override { return known_kernels; }
    double reference_slack() const override { return slack; }
    std::vector<HealthReading> health(size_t) const override { return readings; }
    std::vector<std::string> pci_addresses(size_t) const override {
        return pci.empty() ? std::vector<std::string>{} : std::vector<std::string>{pci};
    }
};

} // namespace hbf::tools::bandwidth
