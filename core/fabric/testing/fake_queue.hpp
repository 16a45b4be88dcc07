// SPDX-License-Identifier: Apache-2.0
// The fake device's queue and regions.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "core/fabric/testing/fake_device.hpp"
#include "hbf/sdk/queue.hpp"
#include "hbf/sdk/region_table.hpp"

namespace hbf::testing {

struct FakeRegion {
    std::byte *bytes = nullptr; // what the engine works on
    std::byte *cpu = nullptr;   // what the CPU sees: the same, or in software domains its own copy; nullptr: nothing
    uint64_t size = 0, mapped = 0;
    uint32_t tier = HBF_TIER_NONE;
    bool named = false;
};
using FakeRegions = sdk::RegionTable<FakeRegion>;

// All memory is taken when it is made: submit allocates nothing, so that tests can count the fabric's allocations.
class FakeQueue : public std::enable_shared_from_this<FakeQueue> {
public:
    FakeQueue(Script &script, FakeRegions &regions, uint32_t depth, uint32_t commands);

    uint64_t submit(const sdk::BatchView &batch);
    sdk::Progress poll() noexcept;
    bool wait(uint64_t value, uint64_t timeout_ns);
    bool cancel(uint64_t value);
    std::optional<sdk::Failure> failure();
    bool idle() noexcept;
    void run(uint64_t values); // what may run, in order

    struct Slot {
        std::vector<hbf_command> commands;
        std::vector<std::shared_ptr<FakeQueue>> waits; // beside each wait command
        std::vector<hbf_kernel_buffer> buffers;        // of launches, as their arguments
        std::vector<std::byte> arguments;
        bool cancelled = false;
    };

private:
    void check(const hbf_command &command);
    void pin(const hbf_command &command, bool on);
    bool execute(Slot &slot);
    void command(const hbf_command &command);
    void copy(const hbf_copy &copy, uint32_t flags);
    void launch(const hbf_launch &launch);
    void keep(Slot &slot, hbf_launch &launch); // its own copy of what the caller's memory holds
    void run_locked(uint64_t values);

    Script &script_;
    FakeRegions &regions_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Slot> slots_;
    uint64_t submitted_ = 0;
    std::atomic<uint64_t> completed_{0};
    uint64_t failed_ = 0;
    sdk::Failure failure_{HBF_OK, {}, 0, HBF_NO_PLACE};
};

// The SDK owns its queues; the script and waits need to reach them, so the shell's queue only points here.
struct FakeQueueHandle final : sdk::Queue {
    explicit FakeQueueHandle(std::shared_ptr<FakeQueue> made, Script &of) : queue(std::move(made)), script(of) {}
    ~FakeQueueHandle() override { --script.live_queues; }
    uint64_t submit(const sdk::BatchView &batch) override { return queue->submit(batch); }
    sdk::Progress poll() noexcept override { return queue->poll(); }
    bool wait(uint64_t value, uint64_t timeout_ns) override { return queue->wait(value, timeout_ns); }
    bool cancel(uint64_t value) override { return queue->cancel(value); }
    std::optional<sdk::Failure> failure() const override { return queue->failure(); }
    bool idle() noexcept override { return queue->idle(); }
    std::shared_ptr<FakeQueue> queue;
    Script &script;
};

} // namespace hbf::testing
