// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/queue/queue.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include <fmt/format.h>

#include "hbf/sdk/wait.hpp"
#include "plugins/opencl/errors.hpp"

namespace hbf::opencl {
namespace {

constexpr uint32_t max_depth = 256, max_commands = 512, max_queues = 64;
constexpr uint32_t usual_depth = 64;

// Buffers of the largest launch.
uint32_t most_buffers() {
    uint32_t most = 1;
    for (const kernels::device::Kernel &kernel : kernels::device::catalogue()) most = std::max(most, kernel.buffer_count);
    return most;
}

uint32_t commands_of(const sdk::QueueRequest &request) {
    return request.commands ? request.commands : max_commands;
}

uint32_t depth_of(const sdk::QueueRequest &request) {
    return request.depth ? request.depth : usual_depth;
}

// OpenCL waits for ever or not at all. With a limit the device is asked now and then: at once while it may be a matter of
// microseconds, ever less often after that. Never by yielding: on a busy machine that lasts until all others had a turn.
void rest(unsigned &round, std::chrono::nanoseconds left) {
    constexpr unsigned at_once = 256, each = 8;
    if (++round <= at_once) return;
    const std::chrono::nanoseconds pause(10'000ull << std::min((round - at_once) / each, 4u));
    std::this_thread::sleep_for(std::min(pause, left));
}

} // namespace

hbf_queue_info queue_facts(const DeviceFacts &device, bool kernels) {
    hbf_queue_info info{};
    info.struct_size = sizeof info;
    info.capabilities = kernels ? HBF_QUEUE_CAP_LAUNCH : 0;
    info.visibility = HBF_VISIBLE_DEVICE | HBF_VISIBLE_HOST;
    // OpenCL says nothing of others. What CPUs have stored in the host's memory every device sees.
    if (device.cpu) info.visibility |= HBF_VISIBLE_THIRD_PARTY;
    info.max_depth = max_depth, info.max_commands = max_commands, info.max_queues = max_queues;
    return info;
}

OpenClQueue::OpenClQueue(const sdk::QueueRequest &request, const Context &context, Regions &regions, DeviceKernels *kernels)
    : cl_(context.cl), regions_(regions), commands_(commands_of(request)),
      lane_(new Lane(regions, depth_of(request), commands_, commands_ * std::max(2u, most_buffers()))),
      taken_(new Command[commands_]), scraps_(new Scrap[size_t{depth_of(request)} * commands_]),
      issuer_(context, regions, kernels ? &launcher_.emplace(*kernels) : nullptr, most_buffers()) {}

OpenClQueue::~OpenClQueue() {
    if (idle()) return;
    issuer_.finish(); // the device is lost: this returns, or what it still does is not ours to know
    lane_->retire();
    lane_->abandon();
}

uint64_t OpenClQueue::submit(const sdk::BatchView &batch) {
    if (lane_->full())
        sdk::fail(HBF_EXHAUSTED, fmt::format("all {} values of the queue are in flight: wait for one", lane_->depth()));
    Lane::Slot &slot = lane_->next();
    take_commands(batch, regions_, launcher_ ? &*launcher_ : nullptr, slot.pins, taken_.get());
    hand_over(batch.size(), slot);
    return lane_->publish();
}

cl_int OpenClQueue::begin(const Command &command, Scrap &scrap, cl_event *event) noexcept {
    if (!command.lane) return issuer_.issue(command, scrap, event);
    *event = nullptr;
    if (command.lane == lane_.get()) return CL_SUCCESS; // in order anyway
    const OwnedEvent before(command.lane->event_of(command.value));
    return before ? issuer_.wait_for(before.get(), event) : CL_SUCCESS;
}

// Whole, or not at all; or, where the driver refuses in the middle of it, as a value that failed.
void OpenClQueue::hand_over(uint64_t count, Lane::Slot &slot) {
    Scrap *const scraps = scraps_.get() + lane_->place_of_next() * commands_;
    cl_int code = CL_SUCCESS;
    uint64_t at = 0;
    for (uint64_t i = 0; i < count; ++i)
        if (taken_[i].lane) slot.waits[slot.wait_count++] = {taken_[i].lane, taken_[i].value};
    for (; at < count && code == CL_SUCCESS; ++at) {
        const Command &command = taken_[at];
        cl_event event = nullptr;
        code = begin(command, scraps[at], &event);
        if (event)
            slot.events[slot.event_count++] = {event, static_cast<uint32_t>(at), command.kind, command.dst.handle,
                                               command.dst.offset};
    }
    if (slot.event_count != 0) {
        const cl_int flushed = issuer_.flush();
        if (code == CL_SUCCESS) code = flushed;
    }
    if (code == CL_SUCCESS) return;
    const Command &refused = taken_[at - 1];
    // Once the device was lost, a driver that has no resources has not got it back: waiting for room would never end.
    const bool lost = lane_->progress().status == HBF_DEVICE_LOST;
    sdk::Failure failure{lost ? end_status(code) : error_status(code),
                         fmt::format("command {}: the driver refuses it: {}", at - 1, error_text(code)), refused.dst.handle,
                         refused.dst.handle ? refused.dst.offset : HBF_NO_PLACE};
    if (slot.event_count != 0) { // some of it has begun
        slot.failure = std::move(failure);
        return;
    }
    lane_->give_back(slot);
    throw failure;
}

sdk::Progress OpenClQueue::poll() noexcept {
    lane_->retire();
    return lane_->progress();
}

bool OpenClQueue::idle() noexcept {
    lane_->retire();
    return lane_->idle();
}

bool OpenClQueue::wait(uint64_t value, uint64_t timeout_ns) {
    using Clock = std::chrono::steady_clock;
    constexpr uint64_t forever = uint64_t{1} << 62; // ns, over a century: the clock cannot take more
    lane_->retire();
    if (lane_->completed() >= value) return true;
    const bool limited = timeout_ns < forever;
    const auto deadline = Clock::now() + std::chrono::nanoseconds(limited ? timeout_ns : 0);
    for (unsigned round = 0;;) {
        if (!limited) {
            if (const OwnedEvent event{lane_->event_of(value)}) {
                cl_event const one = event.get();
                (void)cl_.WaitForEvents(1, &one); // what became of it is asked of the event
            }
        }
        lane_->retire();
        if (lane_->completed() >= value) return true;
        const auto left = limited ? deadline - Clock::now() : std::chrono::nanoseconds(100'000);
        if (left <= std::chrono::nanoseconds::zero()) return false;
        rest(round, left);
    }
}

Lane *waited_lane(const hbf_wait &wait) noexcept {
    auto *const queue = static_cast<OpenClQueue *>(sdk::waited_queue(wait));
    return queue ? &queue->lane() : nullptr;
}

} // namespace hbf::opencl
