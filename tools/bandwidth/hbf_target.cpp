// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/hbf_target.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "kernels/device/copy.h"
#include "kernels/device/pattern_findings.hpp"
#include "kernels/device/triad.h"
#include "tools/bandwidth/rows.hpp"

namespace hbf::tools::bandwidth {
namespace {

using namespace std::chrono_literals;

constexpr auto look_for_stop = 100ms;
constexpr auto give_up = 60s;
constexpr uint64_t gate_bytes = 8 << 20; // about a millisecond: longer than submitting a sample takes
constexpr auto gate_patience = 50ms;
constexpr int most_useless = 2;

namespace kd = kernels::device;
constexpr uint64_t group_bytes = 16 << 10; // of a group of work-items, at least
constexpr uint64_t most_groups = 4096, result_groups = 512;
constexpr uint64_t slot_bytes = result_groups * sizeof(kd::pattern_verify_result);

} // namespace

HbfTarget::HbfTarget(std::vector<Device> &devices, Device &own, Queue queue, bool gate_apart, std::function<bool()> stop)
    : devices_(devices), own_(own), queue_(std::move(queue)), stop_(std::move(stop)), gate_apart_(gate_apart) {}

HbfTarget::~HbfTarget() {
    if (results_.address != nullptr) {
        queue_ = Queue(); // waits for what is in flight
        (void)own_.free(results_.region);
    }
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
    if (closed_ && !held_) batch_.wait(*closed_);
    if (closed_ && gate_apart_ && !held_) {
        if (auto held = queue_.submit(batch_); !held) return tl::unexpected(held.error());
        held_ = true;
        batch_.clear();
    }
    for (const auto &move : moves) {
        if (move.work == measure::Work::copy) {
            batch_.copy(move.dst, move.dst_offset, move.src, move.src_offset, move.size);
        } else if (auto launched = launch(move); !launched) {
            return tl::unexpected(launched.error());
        }
    }
    return queue_.submit(batch_).map([](Point point) { return point.value; });
}

Result<Kernel> HbfTarget::kernel_for(measure::Work work) {
    auto &kernel = kernels_[work];
    if (kernel) return kernel;
    const auto name = kernel_of(work);
    const auto found = own_.find_kernel(name);
    if (!found) return tl::unexpected(found.error());
    const uint32_t buffers = work == measure::Work::kernel_triad ? 3 : 2;
    const uint64_t arguments = work == measure::Work::kernel_copy    ? sizeof(kd::copy_arguments)
                               : work == measure::Work::kernel_triad ? sizeof(kd::triad_arguments)
                                                                     : sizeof(kd::pattern_verify_arguments);
    if (found->kernel.buffer_count != buffers || found->kernel.arguments_size != arguments)
        return fail(Code::unsupported, fmt::format("the device's {} takes other buffers or arguments than it must", name));
    return kernel = found->kernel;
}

// Where a kernel writes and the CPU reads: what it found, a slot a launch.
Result<> HbfTarget::make_results() {
    if (results_.address != nullptr) return {};
    for (const auto &tier : own_.tiers()) {
        if (!tier.cpu_access || !tier.device_access) continue;
        auto made = own_.allocate(tier.index, uint64_t{measure::most_reads} * slot_bytes);
        if (!made) return tl::unexpected(made.error());
        results_ = *made;
        std::memset(results_.address, 0, results_.size);
        return {};
    }
    return fail(Code::unsupported,
                "no tier of the device is shared by its kernels and the CPU: what they found could not be read");
}

Result<> HbfTarget::launch(const measure::Move &move) {
    const auto kernel = kernel_for(move.work);
    if (!kernel) return tl::unexpected(kernel.error());
    const KernelBuffer src{move.src, move.src_offset, move.size, kernel_reads},
        second{move.src, move.second_offset, move.size, kernel_reads},
        dst{move.dst, move.dst_offset, move.size, kernel_writes};
    const uint32_t items = std::min(kernel->max_group_size, 256u);
    const auto groups = [&](uint64_t most) {
        return static_cast<uint32_t>(std::clamp<uint64_t>(move.size / group_bytes, 1, most));
    };
    const auto bytes_of = [](const auto &arguments) { return std::as_bytes(std::span(&arguments, 1)); };
    if (move.work == measure::Work::kernel_copy) {
        const kd::copy_arguments arguments{move.size};
        batch_.launch(*kernel, std::array{src, dst}, bytes_of(arguments), groups(most_groups), items);
    } else if (move.work == measure::Work::kernel_triad) {
        const kd::triad_arguments arguments{move.size, 0, 0};
        batch_.launch(*kernel, std::array{dst, src, second}, bytes_of(arguments), groups(most_groups), items);
    } else {
        if (auto made = make_results(); !made) return made;
        if (reads_ == measure::most_reads) return fail(Code::internal, "more reads than findings are kept of");
        const kd::pattern_verify_arguments arguments{move.src_offset, move.size,          0, move.key.complement ? 1u : 0u,
                                                     move.key.seed,   move.key.generation};
        const KernelBuffer found{results_.region, uint64_t{reads_++} * slot_bytes, slot_bytes, kernel_writes};
        batch_.launch(*kernel, std::array{src, found}, bytes_of(arguments), groups(result_groups), items);
    }
    return {};
}

Result<measure::ReadFindings> HbfTarget::take_findings() {
    measure::ReadFindings all;
    for (uint32_t slot = 0; slot < reads_; ++slot) {
        std::vector<kd::pattern_verify_result> results(result_groups);
        std::byte *const at = results_.address + uint64_t{slot} * slot_bytes;
        std::memcpy(results.data(), at, slot_bytes);
        std::memset(at, 0, slot_bytes); // of groups that will not run there is nothing then
        const auto found = kd::pattern_findings(results);
        all.checked_words += found.checked_words;
        if (found.wrong_words != 0 && all.wrong_words == 0) {
            all.first_offset = found.first_offset;
            all.expected = found.expected;
            all.actual = found.actual;
        }
        all.wrong_words += found.wrong_words;
    }
    reads_ = 0;
    if (results_.address != nullptr)
        if (auto told = own_.written_by_cpu(results_.region, 0, results_.size); !told) return tl::unexpected(told.error());
    return all;
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
    held_ = false;
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
