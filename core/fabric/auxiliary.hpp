// SPDX-License-Identifier: Apache-2.0
// What a Program works with: the bounce buffers, and a plugin queue of its own on each device it touches.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/fabric/crc_kernel.hpp"
#include "core/fabric/device_core.hpp"
#include "core/fabric/op.hpp"

namespace hbf::fabric {

// Two buffers side by side in pinned memory (pinned as far as RLIMIT_MEMLOCK allows; describe says).
class Bounce {
public:
    static constexpr uint64_t half = 1 << 20; // bytes; a multiple of the checksum granule
    Bounce() = default;
    ~Bounce();
    Bounce(const Bounce &) = delete;
    Bounce &operator=(const Bounce &) = delete;

    Result<> make(); // once; later calls do nothing
    std::byte *data(unsigned which) const { return memory_ + which * half; }
    std::string describe() const;

private:
    std::byte *memory_ = nullptr;
    int pin_error_ = 0;
};

// Used by the pump only, once made. The device is held weakly, so that a queue does not keep other devices open.
class Auxiliary {
public:
    static constexpr uint32_t most_commands = 256; // in one of its batches
    static Result<std::unique_ptr<Auxiliary>> create(const std::shared_ptr<DeviceCore> &device);
    ~Auxiliary();

    Result<> attach(const Bounce &bounce); // registers the buffers at the device; once
    Result<> attach_checksums();           // memory for the words of its checksum kernel; once. Not mapped: after attach

    bool serves(const DeviceCore &device) const { return number_ == device_number(device); }
    hbf_region bounce() const { return bounce_; }
    bool has_room() const { return submitted_ - completed_ < depth_; }
    bool idle() const { return completed_ == submitted_; }
    bool reached(uint64_t value) const { return completed_ >= value; }

    // Sends as many Ops as fit into one batch. *value: what to wait for. Returns Ops taken, 0 with *status on failure.
    uint32_t send(const Op *ops, uint32_t count, OpData &data, uint64_t *value, hbf_status *status,
                  hbf_error *error) noexcept;
    // Begins with the checksums of a range of this device's memory, at most CrcKernel::most_bytes; then they are in words().
    bool send_checksums(hbf_region region, uint64_t offset, uint64_t size, unsigned half, uint64_t *value,
                        hbf_status *status, hbf_error *error) noexcept;
    const uint32_t *words(unsigned half, const Bounce &bounce) const;
    hbf_status look(hbf_error *error) noexcept; // polls
    // A queue that failed in work which was then cancelled is left behind (the instance ends it) for a fresh one.
    hbf_status revive() noexcept;
    bool expired() const { return device_.expired(); }
    std::shared_ptr<DeviceCore> device() const { return device_.lock(); }
    hbf_queue *queue() const { return queue_; }
    uint64_t completed() const { return completed_; }

private:
    Auxiliary() = default;
    bool send_commands(uint32_t commands, uint64_t *value, hbf_status *status, hbf_error *error) noexcept;
    static uint32_t device_number(const DeviceCore &device) { return device.number; }

    std::weak_ptr<DeviceCore> device_;
    const hbf_queue_ext *ext_ = nullptr; // valid while the device is
    uint32_t number_ = 0;
    hbf_queue *queue_ = nullptr;
    hbf_region bounce_ = 0;
    const CrcKernel *crc_ = nullptr; // the device's
    hbf_region words_ = 0;           // two halves
    uint32_t *mapped_words_ = nullptr;
    uint32_t depth_ = 0, commands_ = 0;
    uint64_t submitted_ = 0, completed_ = 0;
    hbf_status dead_ = HBF_OK; // the plugin's queue is poisoned
    std::vector<hbf_command> abi_;
};

} // namespace hbf::fabric
