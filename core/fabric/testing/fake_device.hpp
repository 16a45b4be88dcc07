// SPDX-License-Identifier: Apache-2.0
// A plugin inside the test: devices whose every fact and fault a Script sets. Built over the SDK, so that tests go through
// the same shell as a real plugin.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hbf/abi/plugin.h"
#include "hbf/abi/queue.h"
#include "hbf/abi/tier.h"
#include "hbf/device.hpp"

namespace hbf::testing {

class FakeQueue;

// Tiers of every fake device.
enum FakeTier : uint32_t {
    dram = 0,  // CPU, hardware coherent
    soft = 1,  // CPU, software coherent: the engine sees what was flushed, the CPU what was invalidated
    vram = 2,  // the engine only
    cold = 3,  // the engine only, persistent, `cold_bytes` big; what does not fit in vram spills here
    alias = 4, // CPU, hardware coherent; any size over the same 2 MiB
};

// One device's facts and faults. Facts are read at open, faults while work runs.
struct Script {
    // Facts.
    uint32_t capabilities = HBF_QUEUE_CAP_CRC32C | HBF_QUEUE_CAP_CANCEL | HBF_QUEUE_CAP_LAUNCH;
    uint32_t max_depth = 64, max_commands = 2048;
    bool can_register = true;
    bool vram_only = false; // dram has no CPU address either: nothing but the engine reaches it
    bool lies = false;      // dram behaves like soft, and is declared hardware
    uint64_t vram_bytes = 1ull << 40, cold_bytes = 8 << 20;
    uint32_t tier_reality = HBF_REALITY_EMULATED, device_reality = HBF_REALITY_EMULATED;
    hbf_status create_status = HBF_OK;
    std::vector<std::string> kernels = {"add/1"}; // of fake_kernels.hpp

    // Work runs inside submit, unless manual: then when run() says so.
    std::atomic<bool> manual{false};
    std::atomic<bool> cancel_works{true};
    std::atomic<bool> lost{false};      // everything in flight and to come is DEVICE_LOST
    std::atomic<bool> overcount{false}; // poll reports a value that was never submitted

    // Each counts down over copies; at 1 it strikes.
    std::atomic<int> flip_bit{0};   // one bit of the destination is wrong afterwards
    std::atomic<int> drop_copy{0};  // nothing is written, and it is called a success
    std::atomic<int> short_read{0}; // DATA_LOSS, half-way through the source
    std::atomic<int> fail_copy{0};  // INTERNAL

    std::atomic<hbf_status> kernel_status{HBF_OK}; // what finding a kernel comes to
    std::atomic<int> fail_launch{0};               // INTERNAL, naming the last buffer
    std::atomic<int> drop_launch{0};               // nothing is done, and it is called a success

    // What happened.
    std::atomic<uint64_t> copies{0}, copied_bytes{0}, largest_copy{0}, flushes{0}, invalidates{0}, launches{0}, waits{0},
        finds{0}, submitted{0}; // submitted: batches, of all queues
    std::atomic<uint64_t> live_regions{0}, live_queues{0}, live_instances{0}, registrations{0};

    void run(uint64_t values = UINT64_MAX);                     // on every queue, oldest first
    void run_queue(size_t queue, uint64_t values = UINT64_MAX); // in the order of creation, as of now
    std::vector<std::shared_ptr<FakeQueue>> queues();

    std::mutex mutex; // queue_list
    std::vector<std::weak_ptr<FakeQueue>> queue_list;
};

// The plugin "fake", which has a device for every Script added. Scripts are forgotten by reset().
const hbf_plugin *fake_plugin();
Script &add_device(const std::string &id);
void reset_devices();

inline DeviceOptions fake_options(const std::string &id, bool litmus = false) {
    DeviceOptions options;
    options.device_id = id;
    options.litmus = litmus;
    return options;
}

} // namespace hbf::testing
