// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/hbf_target.hpp"

#include <chrono>
#include <thread>

#include <fmt/format.h>

namespace hbf::tools::bandwidth {
namespace {

using namespace std::chrono_literals;

constexpr auto look_for_stop = 100ms;
constexpr auto give_up = 60s;
constexpr uint64_t gate_bytes = 8 << 20; // about a millisecond: longer than submitting a sample takes
constexpr auto gate_patience = 50ms;
constexpr int most_useless = 2;

} // namespace

HbfTarget::HbfTarget(std::vector<Device> &devices, Queue queue, std::function<bool()> stop)
    : devices_(devices), queue_(std::move(queue)), stop_(std::move(stop)) {}

HbfTarget::~HbfTarget() {
    if (!gate_region_) return;
    gate_queue_ = Queue(); // waits for what is in flight
    (void)gate_device_->free(gate_region_);
}

void HbfTarget::make_gate(Device &device, uint32_t tier) {
    auto region = device.allocate(tier, gate_bytes);
    if (!region) return;
    auto queue = device.create_queue();
    if (!queue) {
        (void)device.free(region->region);
        return;
    }
    gate_device_ = &device;
    gate_queue_ = std::move(*queue);
    gate_region_ = region->region;
    gate_work_.fill(gate_region_, 0, gate_bytes, 0);
}

Result<uint64_t> HbfTarget::submit(std::span<const measure::Move> moves) {
    batch_.clear();
    if (closed_) batch_.wait(*closed_);
    for (const auto &move : moves) batch_.copy(move.dst, move.dst_offset, move.src, move.src_offset, move.size);
    return queue_.submit(batch_).map([](Point point) { return point.value; });
}

Result<> HbfTarget::wait_on(Queue &queue, uint64_t value) {
    const auto begin = measure::Clock::now();
    while (true) {
        auto done = queue.wait(value, look_for_stop);
        if (done) return {};
        if (done.error().code != Code::timeout) return tl::unexpected(done.error());
        if (stop_ && stop_()) return fail(Code::cancelled, "interrupted");
        if (measure::Clock::now() - begin > give_up) {
            return fail(Code::timeout,
                        fmt::format("the device completed nothing for {} s", std::chrono::seconds(give_up).count()));
        }
    }
}

Result<> HbfTarget::wait(uint64_t value) {
    return wait_on(queue_, value);
}

Result<> HbfTarget::written_by_cpu(const measure::Buffer &buffer, uint64_t offset, uint64_t size) {
    for (auto &device : devices_) {
        if (device.number() == buffer.region.device) return device.written_by_cpu(buffer.region, offset, size);
    }
    return fail(Code::invalid, "the buffer belongs to no open device");
}

void HbfTarget::close_gate() {
    if (!gate_region_ || useless_ >= most_useless) return;
    auto point = gate_queue_.submit(gate_work_);
    if (point)
        closed_ = *point;
    else
        useless_ = most_useless;
}

std::optional<measure::Clock::time_point> HbfTarget::open_gate() {
    if (!closed_) return std::nullopt;
    const auto value = closed_->value;
    closed_.reset();
    const auto begin = measure::Clock::now();
    std::optional<measure::Clock::time_point> held;
    while (true) {
        const auto now = measure::Clock::now(); // before the look: at this instant it was still closed
        if (gate_queue_.completed() >= value) break;
        held = now;
        if (now - begin > gate_patience) {
            // It moves only when someone waits: then waiting is the executor, and nothing was held back.
            held.reset();
            if (!wait_on(gate_queue_, value)) useless_ = most_useless;
            break;
        }
    }
    useless_ = held ? 0 : useless_ + 1;
    return held;
}

} // namespace hbf::tools::bandwidth
