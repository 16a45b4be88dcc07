// SPDX-License-Identifier: Apache-2.0
// A second device beside the one under test, opened by the suite itself, and regions of both.
#pragma once

#include <memory>
#include <string>

#include "conformance/suite/coherence/scene.hpp"

namespace hbf::conformance::coherence {

// The plugin that --peer names, and an instance of its own. Ends the case as not observable where there is none.
class Peer {
public:
    explicit Peer(Context &context);
    Instance &device() { return subject_->instance(); }
    const std::string &name() const { return name_; } // "host", for notes

private:
    SubjectOptions options_;
    std::unique_ptr<Subject> subject_;
    std::string name_;
};

// A region of one of the two devices and what it takes to use it.
class End {
public:
    End(Instance &device, uint32_t tier, uint64_t size);
    ~End();
    End(const End &) = delete;
    End &operator=(const End &) = delete;

    std::string name() const { return device_->tier(tier_).name; }
    Place place(uint64_t offset) const { return {device_, &region_, offset}; }
    const hbf_region_info &region() const { return region_; }
    uint64_t size() const { return region_.size; }
    const Instance &device() const { return *device_; }

    void put(uint64_t offset, std::span<const std::byte> bytes) { access_.write(region_, offset, bytes); }
    std::vector<std::byte> get(uint64_t offset, uint64_t size) { return access_.read(region_, offset, size); }

    // Memory of this device that the CPU, and so whoever is given its address, reaches: the region itself, or one beside it.
    const hbf_region_info &window() const { return beside_.region ? beside_ : region_; }
    // By this device's own engine, then what its domain needs before others look; and the other way about.
    void to_window(uint64_t offset, uint64_t size);
    void from_window(uint64_t offset, uint64_t size);

    // The other device's memory as a region here, for its commands.
    bool can_register() const { return device_->capabilities() & need::register_host; }
    // Copies by this device's engine between its region and the other's window.
    void copy_out(const hbf_region_info &to, uint64_t to_offset, uint64_t offset, uint64_t size);
    void copy_in(uint64_t offset, const hbf_region_info &from, uint64_t from_offset, uint64_t size);

private:
    hbf_region_info registered(const hbf_region_info &other) const;

    Instance *device_;
    uint32_t tier_;
    hbf_region_info region_, beside_{};
    ByteAccess access_;
    Queue queue_;
};

} // namespace hbf::conformance::coherence
