// SPDX-License-Identifier: Apache-2.0
// The public queue: nothing thrown leaves it.
#include "hbf/queue.hpp"

#include "core/fabric/queue_core.hpp"

namespace hbf {
namespace {

const Error no_queue{Code::invalid, "the queue was moved from, or never made", no_place, {}};

} // namespace

Queue::Queue(std::shared_ptr<fabric::QueueCore> core) : core_(std::move(core)) {}
Queue::Queue(Queue &&) noexcept = default;

Queue &Queue::operator=(Queue &&other) noexcept {
    if (this == &other) return *this;
    if (core_) core_->close();
    core_ = std::move(other.core_);
    return *this;
}

Queue::~Queue() {
    if (core_) core_->close();
}

Result<Point> Queue::submit(const Batch &batch) {
    if (!core_) return tl::unexpected(no_queue);
    return guarded([&] { return core_->submit(batch); });
}

uint64_t Queue::completed() {
    return core_ ? core_->poll() : 0;
}

Result<Completion> Queue::status(uint64_t value) {
    if (!core_) return tl::unexpected(no_queue);
    return guarded([&] { return core_->status(value); });
}

Result<Completion> Queue::wait(uint64_t value, std::chrono::nanoseconds timeout) {
    if (!core_) return tl::unexpected(no_queue);
    return guarded([&] { return core_->wait(value, timeout); });
}

Result<> Queue::on_complete(uint64_t value, std::function<void(const Result<Completion> &)> callback) {
    if (!core_) return tl::unexpected(no_queue);
    return guarded([&] { return core_->on_complete(value, std::move(callback)); });
}

Result<> Queue::cancel(uint64_t value) {
    if (!core_) return tl::unexpected(no_queue);
    return guarded([&] { return core_->cancel(value); });
}

Result<> Queue::poisoned() const {
    if (!core_) return tl::unexpected(no_queue);
    return guarded([&] { return core_->poisoned(); });
}

uint32_t Queue::id() const {
    return core_ ? core_->number : 0;
}

} // namespace hbf
