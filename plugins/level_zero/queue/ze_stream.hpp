// SPDX-License-Identifier: Apache-2.0
// A queue of a Level Zero device, as stream/queue.hpp wants it: in order, over lists that are not.
//
// An immediate command list runs what was appended at once and in any order; barriers order it. A list may be used by one
// thread at a time, so each queue has its own: one of the group of queues that computes, and one of a group that only
// copies, where the device has such. Copies between host and device go to the latter, what stays on the device and kernels
// to the former. Whatever first goes to a list after the other has ended something waits for that by an event.
#pragma once

#include <array>
#include <vector>

#include "plugins/level_zero/context.hpp"
#include "plugins/level_zero/kernels/loader.hpp"
#include "plugins/stream/stream_api.hpp"

namespace hbf::level_zero {

class ZeStream final : public stream::StreamApi {
public:
    ZeStream(Context &context, KernelModules *kernels, bool copy_engine); // throws; `kernels` may be nullptr
    ~ZeStream() override;

    stream::Event make_event() override;
    void destroy_event(stream::Event event) noexcept override;
    int copy(const stream::Copy *copies, uint32_t count) noexcept override;
    int fill(const stream::Fill &fill) noexcept override;
    int launch(const stream::Launch &launch) noexcept override;
    int barrier() noexcept override;
    int record(stream::Event event) noexcept override;
    int wait(stream::Event event) noexcept override;
    stream::Answer query(stream::Event event) noexcept override;
    stream::Answer query_all() noexcept override;
    void finish() noexcept override;
    sdk::Failure explain(int code, bool ran) const override;

private:
    static constexpr size_t most_tracks = 2;
    struct Track {
        ze::List list = nullptr;
        bool open = false;                        // something was appended since its last shot
        Shot *last = nullptr;                     // set after everything up to there
        uint64_t sealed = 0;                      // how often a shot ended it
        std::array<uint64_t, most_tracks> seen{}; // `sealed` of the others, as far as what follows waits for it already
    };
    // What the shared queue calls an event: where each list stood.
    struct Mark {
        std::array<std::atomic<Shot *>, most_tracks> shots{};
        std::vector<Shot *> borrowed; // set, or waited for, by what this mark stands for
    };

    Shot *fresh() noexcept; // nullptr: there is none, `refused_` says why
    int seal(Track &track) noexcept;
    bool borrow(Shot &shot) noexcept; // the caller is a user of it
    int enter_track(Track &track) noexcept;
    int wait_on(Track &track, Shot &shot) noexcept;
    void keep(Track &track, Shot *shot) noexcept;
    stream::Answer answer(ze::Result code) noexcept;
    Track &of_copy(const stream::Copy &copy) noexcept;
    static void let_go(Mark &mark) noexcept;

    Context &context_;
    const Functions &ze_;
    KernelModules *const kernels_;
    size_t tracks_ = 1;
    std::array<Track, most_tracks> track_{}; // 0 computes
    std::vector<Shot *> shots_;              // this queue's
    size_t next_shot_ = 0;
    ze::Result refused_ = ze::success;
    std::vector<Shot *> borrowed_; // since the last record: of others, and own ones that a later one has replaced
    std::vector<ze::Kernel> own_kernels_;
    std::atomic<uint32_t> looks_{0};
};

} // namespace hbf::level_zero
