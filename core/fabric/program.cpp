// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/program.hpp"

#include <thread>

#include <fmt/format.h>

#include "core/fabric/integrity.hpp"

namespace hbf::fabric {

Program::~Program() {
    for (auto &auxiliary : auxiliaries_) delete auxiliary.load(std::memory_order_relaxed);
}

Result<> Program::need(const std::shared_ptr<DeviceCore> &device, Use use) {
    Auxiliary *auxiliary = find(*device);
    if (auxiliary == nullptr) {
        size_t free = 0;
        while (free < auxiliaries_.size() && auxiliaries_[free].load(std::memory_order_relaxed) != nullptr) ++free;
        if (free == auxiliaries_.size()) free = forget_closed();
        if (free == auxiliaries_.size())
            return fail(Code::exhausted,
                        fmt::format("one queue moves bytes between {} devices at most", auxiliaries_.size()));
        auto made = Auxiliary::create(device);
        if (!made) return tl::unexpected(made.error());
        auxiliary = made->release();
        auxiliaries_[free].store(auxiliary, std::memory_order_release);
    }
    if (use == Use::engine) return {};
    if (use == Use::bounce || !device->crc_kernel()->mapped) {
        if (auto done = bounce_.make(); !done) return done;
        if (auto done = auxiliary->attach(bounce_); !done) return done;
    }
    return use == Use::checksums ? auxiliary->attach_checksums() : Result<>();
}

// Makes room where a device has been closed since. Under the pump's flag, because the pump looks at all of them.
size_t Program::forget_closed() noexcept {
    while (owner_.pumping_.exchange(true, std::memory_order_acquire)) std::this_thread::yield();
    size_t free = auxiliaries_.size();
    for (size_t i = 0; i < auxiliaries_.size(); ++i) {
        Auxiliary *auxiliary = auxiliaries_[i].load(std::memory_order_relaxed);
        if (auxiliary == nullptr || !auxiliary->expired()) continue;
        delete auxiliary;
        auxiliaries_[i].store(nullptr, std::memory_order_release);
        free = i;
    }
    owner_.pumping_.store(false, std::memory_order_release);
    return free;
}

Auxiliary *Program::find(const DeviceCore &device) noexcept {
    for (auto &slot : auxiliaries_) {
        Auxiliary *auxiliary = slot.load(std::memory_order_acquire);
        if (auxiliary != nullptr && auxiliary->serves(device)) return auxiliary;
    }
    return nullptr;
}

void Program::start(Entry &entry) noexcept {
    entry_ = &entry;
    phase_ = Phase::open;
    begin_ = 0;
    failed_ = false;
    for (auto &slot : auxiliaries_) {
        Auxiliary *auxiliary = slot.load(std::memory_order_acquire);
        if (auxiliary == nullptr || !auxiliary->idle()) continue;
        if (const hbf_status status = auxiliary->revive(); status != HBF_OK)
            fail_with(to_code(status), "no internal queue", no_place, {});
    }
}

Program::InFlight Program::in_flight() const noexcept {
    for (const auto &slot : auxiliaries_) {
        const Auxiliary *auxiliary = slot.load(std::memory_order_acquire);
        if (auxiliary != nullptr && !auxiliary->idle())
            return {auxiliary->device(), auxiliary->queue(), auxiliary->completed() + 1};
    }
    return {};
}

void Program::fail_with(Code code, std::string_view message, uint64_t offset, const std::string &place) noexcept {
    if (failed_) return;
    failed_ = true;
    try {
        error_ = Error{code, std::string(message), offset, place};
    } catch (...) {
        error_ = Error{code, "out of memory", offset, {}};
    }
}

void Program::fail_abi(const AbiError &abi, hbf_status status, const RegionSlot *place) noexcept {
    if (failed_) return;
    failed_ = true;
    try {
        error_ = abi.to_error(status, owner_.title());
        error_.place = place != nullptr ? place->name : std::string();
    } catch (...) {
        error_ = Error{to_code(status), "out of memory", abi.offset(), {}};
    }
}

bool Program::look() noexcept {
    for (auto &slot : auxiliaries_) {
        Auxiliary *auxiliary = slot.load(std::memory_order_acquire);
        if (auxiliary == nullptr || auxiliary->idle()) continue;
        AbiError abi;
        const hbf_status status = auxiliary->look(abi.out());
        if (status == HBF_OK || failed_) continue;
        fail_abi(abi, status, find_slot({entry_->ops, entry_->op_count}, entry_->data, abi.region()));
    }
    return !failed_;
}

// The regions stay in use until nothing of the batch is in flight any more.
Program::Step Program::drain(Step outcome) noexcept {
    for (auto &slot : auxiliaries_) {
        const Auxiliary *auxiliary = slot.load(std::memory_order_acquire);
        if (auxiliary != nullptr && !auxiliary->idle()) return Step::pending;
    }
    return outcome;
}

void Program::begin_move() noexcept {
    halves_[0] = halves_[1] = {};
    next_ = moved_ = 0;
}

Program::Step Program::step(bool stop) noexcept {
    const auto enter = [&](Phase phase) {
        phase_ = phase;
        cursor_ = sent_ = begin_;
        begin_move();
    };
    // Goes on over the segment's copies that `wanted` picks, one after the other.
    const auto each = [&](auto wanted, auto move) {
        for (; cursor_ < end_; ++cursor_, begin_move()) {
            Op &op = entry_->ops[cursor_];
            if (op.kind != Command::Kind::copy || !wanted(op)) continue;
            if (const Move moved = move(op); moved != Move::done) return moved;
        }
        return Move::done;
    };
    look();
    for (;;) {
        if (failed_) return drain(Step::failed);
        if (stop) return drain(Step::done);
        Move moved = Move::done;
        switch (phase_) {
        case Phase::open:
            end_ = begin_;
            while (end_ < entry_->op_count && entry_->ops[end_].kind != Command::Kind::wait &&
                   entry_->ops[end_].kind != Command::Kind::barrier)
                ++end_;
            enter(Phase::source_crc);
            break;
        case Phase::source_crc:
            moved = each([](const Op &op) { return op.source_crc; }, [&](Op &op) { return read(op, false); });
            if (moved == Move::done) enter(Phase::transfer);
            break;
        case Phase::transfer:
            moved = send_direct();
            if (moved == Move::done) moved = each([](const Op &op) { return op.staged; }, [&](Op &op) { return stage(op); });
            if (moved == Move::done && drain(Step::done) != Step::done) moved = Move::pending;
            if (moved == Move::done) enter(Phase::readback);
            break;
        case Phase::readback:
            moved = each([](const Op &op) { return op.readback; }, [&](Op &op) { return read(op, true); });
            if (moved == Move::done) phase_ = Phase::close;
            break;
        case Phase::close: {
            const Mismatch found =
                settle({entry_->ops + begin_, end_ - begin_}, entry_->data, entry_->checked_bytes, entry_->verified_by);
            if (found.slot != nullptr) {
                failed_ = true;
                try {
                    error_ = describe(found);
                } catch (...) {
                    error_ = Error{Code::data_loss, "out of memory", found.offset, {}};
                }
                break;
            }
            if (end_ >= entry_->op_count) return drain(Step::done);
            begin_ = end_ + 1;
            phase_ = Phase::open;
            break;
        }
        }
        if (moved == Move::pending) return Step::pending;
    }
}

// What one device can do by itself, as many to a batch as it takes.
Program::Move Program::send_direct() noexcept {
    while (sent_ < end_) {
        const Op &first = entry_->ops[sent_];
        if (first.staged) {
            ++sent_;
            continue;
        }
        uint32_t count = 1;
        while (sent_ + count < end_ && !entry_->ops[sent_ + count].staged &&
               entry_->ops[sent_ + count].executor == first.executor)
            ++count;
        Auxiliary *auxiliary = find(*first.executor);
        if (!auxiliary->has_room()) return Move::pending;
        AbiError abi;
        hbf_status status = HBF_OK;
        uint64_t value = 0;
        const uint32_t taken = auxiliary->send(&first, count, entry_->data, &value, &status, abi.out());
        if (taken == 0) {
            fail_abi(abi, status, first.dst);
            return Move::failed;
        }
        sent_ += taken;
    }
    return Move::done;
}

} // namespace hbf::fabric
