// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/queue/ze_stream.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plugins/level_zero/errors.hpp"
#include "plugins/level_zero/memory/tiers.hpp"

namespace hbf::level_zero {
namespace {

int as_int(ze::Result code) noexcept {
    return static_cast<int>(code); // all are below 2^31
}

void *pointer(uint64_t address) noexcept {
    return reinterpret_cast<void *>(address); // NOLINT(performance-no-int-to-ptr): a driver's addresses are numbers here
}

} // namespace

ZeStream::ZeStream(Context &context, KernelModules *kernels, bool copy_engine)
    : context_(context), ze_(context.ze), kernels_(kernels), own_kernels_(kernels ? kernels->count() : 0) {
    borrowed_.reserve(1024);
    track_[0].list = context.make_list(context.facts.compute_group, "zeCommandListCreateImmediate");
    if (!copy_engine || context.facts.copy_group == no_group) return;
    try {
        track_[1].list = context.make_list(context.facts.copy_group, "zeCommandListCreateImmediate of a copy engine");
        tracks_ = 2;
    } catch (...) {
        ze_.zeCommandListDestroy(track_[0].list);
        throw;
    }
}

ZeStream::~ZeStream() {
    for (size_t i = 0; i < tracks_; ++i) {
        keep(track_[i], nullptr);
        ze_.zeCommandListDestroy(track_[i].list);
    }
    for (Shot *const shot : borrowed_) shot->leave();
    for (const ze::Kernel kernel : own_kernels_)
        if (kernel) ze_.zeKernelDestroy(kernel);
    context_.shots.give_back(shots_);
}

stream::Event ZeStream::make_event() {
    auto mark = std::make_unique<Mark>();
    mark->borrowed.reserve(64);
    context_.shots.take(static_cast<uint32_t>(2 * tracks_), shots_);
    return mark.release();
}

void ZeStream::let_go(Mark &mark) noexcept {
    for (auto &slot : mark.shots)
        if (Shot *const shot = slot.exchange(nullptr, std::memory_order_acq_rel)) shot->leave();
    for (Shot *const shot : mark.borrowed) shot->leave();
    mark.borrowed.clear();
}

void ZeStream::destroy_event(stream::Event event) noexcept {
    auto *const mark = static_cast<Mark *>(event);
    let_go(*mark);
    delete mark;
}

// The next one that nobody needs; where other queues hold all, more of them, which costs an allocation.
Shot *ZeStream::fresh() noexcept {
    for (size_t tried = 0; tried < shots_.size(); ++tried) {
        Shot *const shot = shots_[next_shot_];
        next_shot_ = (next_shot_ + 1) % shots_.size();
        if (shot->users.load(std::memory_order_acquire) != 0) continue;
        refused_ = ze_.zeEventHostReset(shot->event);
        if (refused_ != ze::success) return nullptr;
        shot->users.store(1, std::memory_order_release);
        return shot;
    }
    try {
        next_shot_ = shots_.size();
        context_.shots.take(16, shots_);
    } catch (...) {
        refused_ = ze::out_of_host_memory;
        return nullptr;
    }
    return fresh();
}

void ZeStream::keep(Track &track, Shot *shot) noexcept {
    if (track.last) track.last->leave();
    track.last = shot;
}

// A barrier without waits is done after all that was appended before it, and nothing after it begins before that: it ends
// what is on the list and orders what follows at once (zeCommandListAppendBarrier).
int ZeStream::seal(Track &track) noexcept {
    if (!track.open) return 0;
    Shot *const shot = fresh();
    if (!shot) return as_int(refused_);
    // The one before may be set long after this call. Whoever used it again meanwhile would find it set too early, so it
    // stays as it is until the next mark is over.
    if (track.last && !borrow(*track.last)) {
        shot->leave();
        return as_int(ze::out_of_host_memory);
    }
    const ze::Result code = ze_.zeCommandListAppendBarrier(track.list, shot->event, 0, nullptr);
    if (code != ze::success) {
        shot->leave();
        return as_int(code);
    }
    keep(track, shot); // as its user
    ++track.sealed;
    track.open = false;
    return 0;
}

// A barrier with waits is done when those events are set, and does not wait for what is ahead of it; what follows does.
int ZeStream::wait_on(Track &track, Shot &shot) noexcept {
    ze::Event event = shot.event;
    return as_int(ze_.zeCommandListAppendBarrier(track.list, nullptr, 1, &event));
}

bool ZeStream::borrow(Shot &shot) noexcept {
    try {
        borrowed_.push_back(&shot);
    } catch (...) {
        return false;
    }
    (void)shot.join(); // the caller is a user, so it has one
    return true;
}

// Before anything goes to a list: what the other has ended is seen by it.
int ZeStream::enter_track(Track &track) noexcept {
    for (size_t i = 0; i < tracks_; ++i) {
        Track &other = track_[i];
        if (&other == &track || !other.last || track.seen[i] == other.sealed) continue;
        // Held until the barrier has run, which the next record tells: the shot may be replaced on its own list before.
        if (!borrow(*other.last)) return as_int(ze::out_of_host_memory);
        if (const int code = wait_on(track, *other.last); code != 0) return code;
        track.seen[i] = other.sealed;
    }
    track.open = true;
    return 0;
}

ZeStream::Track &ZeStream::of_copy(const stream::Copy &copy) noexcept {
    const auto on_device = [](const stream::Region *region) {
        return static_cast<const ZeRegion *>(region)->sort == Sort::device;
    };
    // Copy engines are made for the way between host and device; inside a device, its compute engine is the faster.
    return track_[tracks_ == 2 && !(on_device(copy.to) && on_device(copy.from)) ? 1 : 0];
}

int ZeStream::copy(const stream::Copy *copies, uint32_t count) noexcept {
    for (uint32_t i = 0; i < count; ++i) {
        Track &track = of_copy(copies[i]);
        if (const int code = enter_track(track); code != 0) return code;
        const ze::Result code = ze_.zeCommandListAppendMemoryCopy(track.list, pointer(copies[i].dst), pointer(copies[i].src),
                                                                  copies[i].size, nullptr, 0, nullptr);
        if (code != ze::success) return as_int(code);
    }
    return 0;
}

int ZeStream::fill(const stream::Fill &fill) noexcept {
    Track &track = track_[0];
    if (const int code = enter_track(track); code != 0) return code;
    return as_int(ze_.zeCommandListAppendMemoryFill(track.list, pointer(fill.dst), &fill.value, fill.width,
                                                    fill.count * fill.width, nullptr, 0, nullptr));
}

// A kernel object holds its arguments until it is appended, so each queue has its own, made at its first launch.
int ZeStream::launch(const stream::Launch &launch) noexcept {
    const auto &loaded = *static_cast<const LoadedModule *>(launch.function);
    ze::Kernel &kernel = own_kernels_[loaded.index];
    if (!kernel)
        if (const ze::Result code = kernels_->make_kernel(loaded, kernel); code != ze::success) return as_int(code);
    ze::Result code = ze_.zeKernelSetGroupSize(kernel, launch.group_size[0], launch.group_size[1], launch.group_size[2]);
    for (uint32_t i = 0; i < launch.parameter_count && code == ze::success; ++i) {
        const bool last = i + 1 == launch.parameter_count;
        code =
            ze_.zeKernelSetArgumentValue(kernel, i, last ? launch.arguments_size : sizeof(uint64_t), launch.parameters[i]);
    }
    if (code != ze::success) return as_int(code);
    Track &track = track_[0];
    if (const int entered = enter_track(track); entered != 0) return entered;
    const ze::GroupCount groups{launch.groups[0], launch.groups[1], launch.groups[2]};
    return as_int(ze_.zeCommandListAppendLaunchKernel(track.list, kernel, &groups, nullptr, 0, nullptr));
}

int ZeStream::barrier() noexcept {
    for (size_t i = 0; i < tracks_; ++i)
        if (const int code = seal(track_[i]); code != 0) return code;
    return 0;
}

int ZeStream::record(stream::Event event) noexcept {
    auto &mark = *static_cast<Mark *>(event);
    let_go(mark);
    if (const int code = barrier(); code != 0) return code;
    for (size_t i = 0; i < tracks_; ++i) {
        Shot *const shot = track_[i].last;
        if (shot) (void)shot->join(); // the list is a user, so it has one
        mark.shots[i].store(shot, std::memory_order_release);
    }
    mark.borrowed.swap(borrowed_);
    return 0;
}

int ZeStream::wait(stream::Event event) noexcept {
    auto &mark = *static_cast<Mark *>(event);
    for (auto &slot : mark.shots) {
        Shot *shot = nullptr;
        // Another thread may record the mark anew meanwhile: then the later one is waited for.
        while ((shot = slot.load(std::memory_order_acquire)) != nullptr) {
            if (!shot->join()) continue;
            if (slot.load(std::memory_order_acquire) == shot) break;
            shot->leave();
        }
        if (!shot) continue;
        const bool held = borrow(*shot);
        shot->leave();
        if (!held) return as_int(ze::out_of_host_memory);
        for (size_t i = 0; i < tracks_; ++i) {
            if (const int code = wait_on(track_[i], *shot); code != 0) return code;
            track_[i].open = true; // what this batch's mark stands for comes after the wait
        }
    }
    return 0;
}

// An event says that it is set or that it is not: of work that failed it stays unset, for ever, and the device tells.
stream::Answer ZeStream::answer(ze::Result code) noexcept {
    constexpr uint32_t now_and_then = 64;
    if (code == ze::not_ready) {
        if (looks_.fetch_add(1, std::memory_order_relaxed) % now_and_then != 0) return {};
        const ze::Result state = ze_.zeDeviceGetStatus(context_.device);
        return state == ze::success ? stream::Answer{} : stream::Answer{true, as_int(state)};
    }
    return {true, as_int(code == ze::success ? ze_.zeDeviceGetStatus(context_.device) : code)};
}

stream::Answer ZeStream::query(stream::Event event) noexcept {
    auto &mark = *static_cast<Mark *>(event);
    stream::Answer all{true, 0};
    for (size_t i = tracks_; i > 0; --i) {
        const Shot *const shot = mark.shots[i - 1].load(std::memory_order_acquire);
        if (!shot) continue;
        all = answer(ze_.zeEventQueryStatus(shot->event));
        if (!all.over || all.code != 0) return all;
    }
    // Over: what it borrowed has been waited for.
    for (Shot *const shot : mark.borrowed) shot->leave();
    mark.borrowed.clear();
    return all;
}

// For a batch whose record() was refused: nothing says how far it is but the events before it, and the device.
stream::Answer ZeStream::query_all() noexcept {
    const ze::Result state = ze_.zeDeviceGetStatus(context_.device);
    return {true, as_int(state == ze::success ? ze::device_lost : state)};
}

void ZeStream::finish() noexcept {
    for (size_t i = 0; i < tracks_; ++i) {
        if (seal(track_[i]) != 0 || !track_[i].last) continue;
        while (ze_.zeEventHostSynchronize(track_[i].last->event, 100'000'000) == ze::not_ready)
            if (ze_.zeDeviceGetStatus(context_.device) != ze::success) return;
    }
}

sdk::Failure ZeStream::explain(int code, bool) const {
    const auto result = static_cast<ze::Result>(code);
    return {error_status(result), error_text(result)};
}

} // namespace hbf::level_zero
