// SPDX-License-Identifier: Apache-2.0
#include "plugins/stream/queue.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "hbf/sdk/wait.hpp"
#include "plugins/stream/fill.hpp"

namespace hbf::stream {
namespace {

uint32_t commands_of(const sdk::QueueRequest &request, const QueueLimits &limits) {
    return request.commands ? request.commands : limits.max_commands;
}

uint32_t depth_of(const sdk::QueueRequest &request, const QueueLimits &limits) {
    return request.depth ? request.depth : limits.usual_depth;
}

// Runtimes wait for ever or not at all, so the device is asked now and then: at once while it may be a matter of
// microseconds, ever less often after that. Never by yielding: on a busy machine that lasts until all others had a turn.
void rest(unsigned &round, std::chrono::nanoseconds left) {
    constexpr unsigned at_once = 256, each = 8;
    if (++round <= at_once) return;
    const std::chrono::nanoseconds pause(10'000ull << std::min((round - at_once) / each, 4u));
    std::this_thread::sleep_for(std::min(pause, left));
}

} // namespace

hbf_queue_info queue_facts(const QueueLimits &limits, bool kernels) {
    hbf_queue_info info{};
    info.struct_size = sizeof info;
    info.capabilities = kernels ? HBF_QUEUE_CAP_LAUNCH : 0;
    info.visibility = limits.visibility;
    info.max_depth = limits.max_depth, info.max_commands = limits.max_commands, info.max_queues = limits.max_queues;
    return info;
}

StreamQueue::StreamQueue(const sdk::QueueRequest &request, const QueueLimits &limits, const MakeStream &make_stream,
                         Regions &regions, const KernelTable *kernels)
    : commands_(commands_of(request, limits)), kernels_(kernels), regions_(regions), taken_(new Command[commands_]),
      copies_(new Copy[commands_]), lane_(new Lane(regions, depth_of(request, limits), commands_,
                                                   commands_ * std::max(2u, kernels ? KernelTable::most_buffers() : 0))) {
    api_ = make_stream();
    lane_->begin(*api_);
}

StreamQueue::~StreamQueue() {
    if (!idle()) {
        const Entered entered(*api_);
        api_->finish(); // the device is lost: this returns, or what it still does is not ours to know
        lane_->retire();
    }
    lane_->end();
}

uint64_t StreamQueue::submit(const sdk::BatchView &batch) {
    if (lane_->full())
        sdk::fail(HBF_EXHAUSTED, fmt::format("all {} values of the queue are in flight: wait for one", lane_->depth()));
    Lane::Slot &slot = lane_->next();
    take_commands(batch, regions_, kernels_, slot.pins, taken_.get());
    hand_over(batch.size(), slot);
    return lane_->publish();
}

int StreamQueue::launch(const Command &command) noexcept {
    constexpr uint32_t most = KernelTable::most_launched;
    const hbf_launch &launch = *command.launch;
    uint64_t words[2 * most];
    void *parameters[2 * most + 1];
    uint32_t count = 0;
    for (uint64_t i = 0; i < launch.buffer_count; ++i) {
        const hbf_kernel_buffer &buffer = launch.buffers[i];
        words[count] = (*regions_.find(buffer.region))->at; // pinned
        words[count + 1] = buffer.offset;
        parameters[count] = &words[count], parameters[count + 1] = &words[count + 1];
        count += 2;
    }
    // The runtime copies it; that it takes no const is history.
    parameters[count++] = const_cast<void *>(launch.arguments);
    return api_->launch({command.kernel->loaded.function, launch.groups, launch.group_size, parameters, count,
                         launch.arguments_size, launch.buffers});
}

int StreamQueue::one(const Command &command) noexcept {
    switch (command.kind) {
    case HBF_COMMAND_FILL:
        return fill(*api_, command);
    case HBF_COMMAND_FLUSH:
        return api_->write_back(*command.dst.region, command.dst.offset, command.size);
    case HBF_COMMAND_INVALIDATE:
        return api_->invalidate(*command.dst.region, command.dst.offset, command.size);
    case HBF_COMMAND_LAUNCH:
        return launch(command);
    default:
        break;
    }
    if (!command.lane) return api_->barrier();
    if (command.lane == lane_.get()) return 0; // in order anyway
    const Event before = command.lane->event_of(command.value);
    return before ? api_->wait(before) : 0;
}

// Commands from `at` on; where one is refused, `at` is that one. Copies that stand together go down together.
int StreamQueue::begin(uint64_t count, uint64_t &at, bool &begun) noexcept {
    while (at < count) {
        const uint64_t first = at;
        uint32_t copies = 0;
        for (; at < count && taken_[at].kind == HBF_COMMAND_COPY; ++at) {
            const Command &copy = taken_[at];
            copies_[copies++] = {copy.dst.address(), copy.src.address(), copy.size, copy.dst.region, copy.src.region};
        }
        const int code = copies != 0 ? api_->copy(copies_.get(), copies) : one(taken_[at++]);
        if (code != 0) {
            at = first;
            begun |= copies > 1; // the runtime may have taken some of them
            return code;
        }
        begun = true;
    }
    return 0;
}

// Whole, or not at all; or, where the runtime refuses in the middle of it, as a value that failed.
void StreamQueue::hand_over(uint64_t count, Lane::Slot &slot) {
    for (uint64_t i = 0; i < count; ++i)
        if (taken_[i].lane) slot.waits[slot.wait_count++] = {taken_[i].lane, taken_[i].value};
    slot.command_count = static_cast<uint32_t>(count);
    const Place place = count == 1 ? taken_[0].dst : Place{};
    slot.region = place.handle;
    slot.offset = place.handle ? place.offset : HBF_NO_PLACE;
    const Entered entered(*api_);
    uint64_t at = 0;
    bool begun = false;
    int code = begin(count, at, begun);
    const bool taken = code == 0;
    if (taken || begun) {
        const int recorded = api_->record(slot.event);
        slot.recorded = recorded == 0;
        const int flushed = slot.recorded ? api_->flush() : recorded;
        if (code == 0) code = flushed;
    }
    if (code == 0) return;
    sdk::Failure failure = api_->explain(code, lane_->progress().status == HBF_DEVICE_LOST);
    if (taken) {
        failure.message = fmt::format("the runtime refuses what tells of a batch's end: {}", failure.message);
    } else {
        const Place &refused = taken_[at].dst;
        failure.message = fmt::format("command {}: the runtime refuses it: {}", at, failure.message);
        failure.region = refused.handle;
        failure.offset = refused.handle ? refused.offset : HBF_NO_PLACE;
    }
    if (begun) { // some of it runs
        slot.failure = std::move(failure);
        return;
    }
    lane_->give_back(slot);
    throw failure;
}

sdk::Progress StreamQueue::poll() noexcept {
    lane_->retire();
    return lane_->progress();
}

bool StreamQueue::idle() noexcept {
    lane_->retire();
    return lane_->idle();
}

bool StreamQueue::wait(uint64_t value, uint64_t timeout_ns) {
    using Clock = std::chrono::steady_clock;
    constexpr uint64_t forever = uint64_t{1} << 62; // ns, over a century: the clock cannot take more
    lane_->retire();
    if (lane_->completed() >= value) return true;
    const bool limited = timeout_ns < forever;
    const auto deadline = Clock::now() + std::chrono::nanoseconds(limited ? timeout_ns : 0);
    for (unsigned round = 0;;) {
        lane_->retire();
        if (lane_->completed() >= value) return true;
        const auto left = limited ? deadline - Clock::now() : std::chrono::nanoseconds(1'000'000);
        if (left <= std::chrono::nanoseconds::zero()) return false;
        rest(round, left);
    }
}

Lane *waited_lane(const hbf_wait &wait) noexcept {
    auto *const queue = static_cast<StreamQueue *>(sdk::waited_queue(wait));
    return queue ? &queue->lane() : nullptr;
}

} // namespace hbf::stream
