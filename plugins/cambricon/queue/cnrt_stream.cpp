// SPDX-License-Identifier: Apache-2.0
#include "plugins/cambricon/queue/cnrt_stream.hpp"

#include <algorithm>

#include "plugins/cambricon/current_device.hpp"

namespace hbf::cambricon {
namespace {

constexpr uint64_t pinned_size = 1 << 20,          // each of the two
    host_piece = 4 << 20, pattern_size = 64 << 10; // bytes, multiples of every pattern

// NOLINTBEGIN(performance-no-int-to-ptr): the runtime's addresses are numbers here
void *pointer(uint64_t address) noexcept {
    return reinterpret_cast<void *>(address);
}
std::byte *bytes_at(uint64_t address) noexcept {
    return reinterpret_cast<std::byte *>(address);
}
// NOLINTEND(performance-no-int-to-ptr)

bool on_device(const stream::Region *region) noexcept {
    return sort_of(region) == Sort::device;
}

} // namespace

CnrtStream::CnrtStream(const Cnrt &cnrt, int ordinal, uint32_t commands)
    : cnrt_(cnrt), ordinal_(ordinal), tasks_(commands * tasks_per_command) {
    const OnDevice on(cnrt_, ordinal_);
    try {
        check(cnrt_, cnrt_.HostMalloc(&pinned_, 2 * pinned_size), "cnrtHostMalloc of a queue's buffers");
        add_turn();
    } catch (...) {
        end();
        throw;
    }
}

CnrtStream::~CnrtStream() {
    const OnDevice on(cnrt_, ordinal_);
    end();
}

void CnrtStream::end(const Turn &turn) noexcept {
    for (const CnrtQueue queue : {turn.queue, turn.lanes[0].queue, turn.lanes[1].queue})
        if (queue) (void)cnrt_.QueueDestroy(queue);
    for (const CnrtNotifier notifier : {turn.begun, turn.lanes[0].end, turn.lanes[1].end})
        if (notifier) (void)cnrt_.NotifierDestroy(notifier);
}

void CnrtStream::end() noexcept {
    for (const auto &turn : turns_) end(*turn);
    if (pinned_) (void)cnrt_.FreeHost(pinned_);
}

CnrtNotifier CnrtStream::make_notifier() const {
    CnrtNotifier notifier = nullptr;
    check(cnrt_,
          cnrt_.NotifierCreateWithFlags ? cnrt_.NotifierCreateWithFlags(&notifier, notifier_without_timing)
                                        : cnrt_.NotifierCreate(&notifier),
          "cnrtNotifierCreate");
    return notifier;
}

void CnrtStream::add_turn() {
    turns_.push_back(std::make_unique<Turn>()); // what it has got by then ends with the rest
    Turn &turn = *turns_.back();
    turn.tasks = std::make_unique<HostTask[]>(tasks_);
    check(cnrt_, cnrt_.QueueCreate(&turn.queue), "cnrtQueueCreate");
    turn.begun = make_notifier();
    for (Lane &lane : turn.lanes) {
        check(cnrt_, cnrt_.QueueCreate(&lane.queue), "cnrtQueueCreate");
        lane.end = make_notifier();
    }
}

void CnrtStream::enter() noexcept {
    enter_device(cnrt_, ordinal_);
}

void CnrtStream::leave() noexcept {
    leave_device(cnrt_);
}

stream::Event CnrtStream::make_event() {
    auto mark = std::make_unique<Mark>();
    add_turn();
    mark->notifier = make_notifier();
    return mark.release();
}

void CnrtStream::destroy_event(stream::Event event) noexcept {
    const std::unique_ptr<Mark> mark(static_cast<Mark *>(event));
    if (mark) (void)cnrt_.NotifierDestroy(mark->notifier);
}

int CnrtStream::move(uint64_t dst, uint64_t src, uint64_t size, CnrtQueue queue) noexcept {
    return cnrt_.MemcpyAsync(pointer(dst), pointer(src), size, queue, memcpy_no_direction);
}

int CnrtStream::copy(const stream::Copy *copies, uint32_t count) noexcept {
    int code = code::success;
    for (uint32_t i = 0; i < count && code == code::success; ++i) {
        const stream::Copy &one = copies[i];
        if (!on_device(one.to) && !on_device(one.from)) {
            HostTask task;
            task.kind = HostTask::Kind::copy;
            task.to = bytes_at(one.dst), task.from = bytes_at(one.src);
            task.size = one.size, task.piece = task.step = host_piece;
            code = on_host(task);
        } else if (sort_of(one.to) == Sort::registered || sort_of(one.from) == Sort::registered) {
            code = through_pinned(one);
        } else {
            code = move(one.dst, one.src, one.size, now().queue);
        }
    }
    return code;
}

std::byte *CnrtStream::pinned(uint32_t index) const noexcept {
    return static_cast<std::byte *>(pinned_) + index * pinned_size;
}

// Between the device and memory that is not pinned: by the runtime's own way the call would block until it is over.
int CnrtStream::through_pinned(const stream::Copy &copy) noexcept {
    Turn &turn = now();
    int code = cnrt_.PlaceNotifier(turn.begun, turn.queue);
    turn.lanes_used = true;
    const uint32_t lanes = copy.size > pinned_size ? 2 : 1;
    for (uint32_t i = 0; i < lanes && code == code::success; ++i) code = lane(i, copy);
    return code;
}

// Every other piece. What follows in the batch waits for all of it, also where the runtime refuses the rest.
int CnrtStream::lane(uint32_t index, const stream::Copy &copy) noexcept {
    Turn &turn = now();
    const CnrtQueue queue = turn.lanes[index].queue;
    const bool load = on_device(copy.to);
    std::byte *const buffer = pinned(index);
    const auto buffer_at = reinterpret_cast<uintptr_t>(buffer);
    HostTask plan;
    plan.kind = load ? HostTask::Kind::load : HostTask::Kind::store;
    plan.to = load ? buffer : bytes_at(copy.dst);
    plan.from = load ? bytes_at(copy.src) : buffer;
    plan.size = copy.size, plan.piece = pinned_size;
    plan.next = index * pinned_size, plan.step = 2 * pinned_size;
    HostTask *const task = take(plan);
    int code = task ? cnrt_.QueueWaitNotifier(turn.begun, queue, 0) : code::out_of_resources;
    for (uint64_t at = plan.next; at < copy.size && code == code::success; at += plan.step) {
        const uint64_t piece = std::min(pinned_size, copy.size - at);
        if (load) code = cnrt_.InvokeHostFunc(queue, &HostTask::run, task);
        if (code == code::success)
            code = load ? move(copy.dst + at, buffer_at, piece, queue) : move(buffer_at, copy.src + at, piece, queue);
        if (!load && code == code::success) code = cnrt_.InvokeHostFunc(queue, &HostTask::run, task);
    }
    int end = cnrt_.PlaceNotifier(turn.lanes[index].end, queue);
    if (end == code::success) end = cnrt_.QueueWaitNotifier(turn.lanes[index].end, turn.queue, 0);
    return code == code::success ? end : code;
}

// CNRT sets bytes. Wider patterns come from pinned memory, and what is there already is copied, twice as much each time.
int CnrtStream::fill(const stream::Fill &fill) noexcept {
    const uint64_t size = fill.count * fill.width;
    if (on_device(fill.to) && fill.width == 1)
        return cnrt_.MemsetAsync(pointer(fill.dst), static_cast<int>(fill.value & 0xff), size, now().queue);
    HostTask task;
    task.kind = HostTask::Kind::fill;
    task.pattern = fill.value, task.width = static_cast<uint8_t>(fill.width);
    task.piece = task.step = host_piece;
    if (!on_device(fill.to)) {
        task.to = bytes_at(fill.dst), task.size = size;
        return on_host(task);
    }
    task.to = pinned(0), task.size = std::min(size, pattern_size);
    int code = on_host(task);
    if (code == code::success) code = move(fill.dst, reinterpret_cast<uintptr_t>(pinned(0)), task.size, now().queue);
    for (uint64_t done = task.size; done < size && code == code::success; done *= 2)
        code = move(fill.dst + done, fill.dst, std::min(done, size - done), now().queue);
    return code;
}

HostTask *CnrtStream::take(const HostTask &task) noexcept {
    Turn &turn = now();
    if (turn.used == tasks_) return nullptr;
    HostTask &out = turn.tasks[turn.used++];
    out = task;
    return &out;
}

int CnrtStream::on_host(const HostTask &plan) noexcept {
    HostTask *const task = take(plan);
    if (!task) return code::out_of_resources;
    int code = code::success;
    for (uint64_t done = 0; done < plan.size && code == code::success; done += plan.piece)
        code = cnrt_.InvokeHostFunc(now().queue, &HostTask::run, task);
    return code;
}

int CnrtStream::record(stream::Event event) noexcept {
    Mark &mark = *static_cast<Mark *>(event);
    if (const int code = cnrt_.PlaceNotifier(mark.notifier, now().queue); code != code::success) return code;
    mark.placed = &now();
    const size_t next = (current_ + 1) % turns_.size();
    // Where the next queue cannot be made to wait, this one goes on: then the batch is over when that is idle, later.
    if (cnrt_.QueueWaitNotifier(mark.notifier, turns_[next]->queue, 0) != code::success) return code::success;
    current_ = next;
    now().used = 0,
    now().lanes_used = false; // the batch that had it has completed: there are more turns than batches in flight
    return code::success;
}

int CnrtStream::wait(stream::Event event) noexcept {
    return cnrt_.QueueWaitNotifier(static_cast<Mark *>(event)->notifier, now().queue, 0);
}

// Of all its queues: a copy that failed beside the batch's own shows there only.
stream::Answer CnrtStream::ended(const Turn &turn) const noexcept {
    stream::Answer out{true, cnrt_.QueueQuery(turn.queue)};
    if (still_runs(out.code)) return {};
    for (const Lane &lane : turn.lanes) {
        if (!turn.lanes_used) break;
        const int code = cnrt_.QueueQuery(lane.queue);
        if (still_runs(code)) return {};
        if (out.code == code::success) out.code = code;
    }
    return out;
}

stream::Answer CnrtStream::query(stream::Event event) noexcept {
    const Mark &mark = *static_cast<Mark *>(event);
    const int code = cnrt_.QueryNotifier(mark.notifier);
    if (still_runs(code)) return {};
    if (code != code::success) return {true, code};
    return ended(*mark.placed);
}

stream::Answer CnrtStream::query_all() noexcept {
    stream::Answer all{true, code::success};
    for (const auto &turn : turns_) {
        const stream::Answer one = ended(*turn);
        if (!one.over) return {};
        if (all.code == code::success) all.code = one.code;
    }
    return all;
}

void CnrtStream::finish() noexcept {
    for (const auto &turn : turns_)
        for (const CnrtQueue queue : {turn->lanes[0].queue, turn->lanes[1].queue, turn->queue}) (void)cnrt_.QueueSync(queue);
}

sdk::Failure CnrtStream::explain(int code, bool ran) const {
    return {error_status(code, ran), error_text(cnrt_, code), 0, HBF_NO_PLACE};
}

} // namespace hbf::cambricon
