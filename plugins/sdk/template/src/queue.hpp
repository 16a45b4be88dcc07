// SPDX-License-Identifier: Apache-2.0
// The device's queue. This one does its work inside submit, on the thread that calls it: put your copy engine here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hbf/sdk/queue.hpp"
#include "memory.hpp"

namespace plugin {

class Queue final : public hbf::sdk::Queue {
public:
    Queue(Regions &regions, uint32_t commands) : regions_(regions), pinned_(2 * size_t{commands}) {}

    uint64_t submit(const hbf::sdk::BatchView &batch) override;
    hbf::sdk::Progress poll() noexcept override { return {completed_.load(std::memory_order_acquire), 0, HBF_OK}; }
    bool wait(uint64_t, uint64_t) override { return true; } // what submit has returned is done
    bool cancel(uint64_t) override { return false; }        // HBF_QUEUE_CAP_CANCEL is not declared
    std::optional<hbf::sdk::Failure> failure() const override { return std::nullopt; }
    bool idle() noexcept override { return true; }

private:
    void check(const hbf_command &command);
    void run(const hbf_command &command);
    std::byte *pin(hbf_region region, uint64_t offset, uint64_t size); // checked; cannot be freed until unpin_all
    std::byte *at(hbf_region region, uint64_t offset);                 // of a pinned one
    void unpin_all() noexcept;

    Regions &regions_;
    std::vector<hbf_region> pinned_; // room for the largest batch: submit allocates nothing
    size_t pins_ = 0;
    std::atomic<uint64_t> completed_{0};
};

} // namespace plugin
