// SPDX-License-Identifier: Apache-2.0
// One in-order stream over CNRT.
//
// A notifier says that its turn came, never that what was ahead of it went well (BANG C/C++ guide 6.5.12.2): a failed copy
// and a good one look the same. Only the queue itself tells, by cnrtQueueQuery and cnrtQueueSync, and only once all that is
// in it is over. So each batch has a CNRT queue to itself, which waits for the one before by its notifier, and is used
// again when its batch has completed: what that queue answers is this batch's end, however much was submitted after it.
//
// Memory that CNRT did not pin is reached through two pinned buffers, each with a queue beside the batch's own: while one of
// them goes over the link, the CPU moves the other.
#pragma once

#include <memory>
#include <vector>

#include "plugins/cambricon/errors.hpp"
#include "plugins/cambricon/memory/region.hpp"
#include "plugins/cambricon/queue/host_task.hpp"
#include "plugins/stream/stream_api.hpp"

namespace hbf::cambricon {

class CnrtStream final : public stream::StreamApi {
public:
    // `commands`: the most in a batch. Throws sdk::Failure.
    CnrtStream(const Cnrt &cnrt, int ordinal, uint32_t commands);
    ~CnrtStream() override;

    void enter() noexcept override;
    void leave() noexcept override;
    stream::Event make_event() override;
    void destroy_event(stream::Event event) noexcept override;

    int copy(const stream::Copy *copies, uint32_t count) noexcept override;
    int fill(const stream::Fill &fill) noexcept override;
    int launch(const stream::Launch &) noexcept override { return code::not_supported; }
    int record(stream::Event event) noexcept override;
    int wait(stream::Event event) noexcept override;

    stream::Answer query(stream::Event event) noexcept override;
    stream::Answer query_all() noexcept override;
    void finish() noexcept override;
    sdk::Failure explain(int code, bool ran) const override;

private:
    struct Lane { // of a pinned buffer
        CnrtQueue queue = nullptr;
        CnrtNotifier end = nullptr; // of what is in it
    };
    struct Turn { // of one batch
        CnrtQueue queue = nullptr;
        CnrtNotifier begun = nullptr; // what is ahead of the lanes' part
        Lane lanes[2];
        bool lanes_used = false;
        std::unique_ptr<HostTask[]> tasks;
        uint32_t used = 0;
    };
    struct Mark { // what an Event points to
        CnrtNotifier notifier = nullptr;
        const Turn *placed = nullptr; // where it was put last
    };
    // Fills of odd lengths take a command to several calls.
    static constexpr uint32_t tasks_per_command = 16;

    CnrtNotifier make_notifier() const;
    void add_turn();
    void end(const Turn &turn) noexcept;
    void end() noexcept;
    stream::Answer ended(const Turn &turn) const noexcept;
    Turn &now() noexcept { return *turns_[current_]; }
    int move(uint64_t dst, uint64_t src, uint64_t size, CnrtQueue queue) noexcept;
    int through_pinned(const stream::Copy &copy) noexcept;
    int lane(uint32_t index, const stream::Copy &copy) noexcept;
    int on_host(const HostTask &task) noexcept; // all its pieces, one after the other
    HostTask *take(const HostTask &task) noexcept;
    std::byte *pinned(uint32_t index) const noexcept;

    const Cnrt &cnrt_;
    const int ordinal_;
    const uint32_t tasks_;
    std::vector<std::unique_ptr<Turn>> turns_; // one more than there are events
    size_t current_ = 0;
    void *pinned_ = nullptr;
};

} // namespace hbf::cambricon
