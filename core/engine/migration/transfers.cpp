// SPDX-License-Identifier: Apache-2.0
#include "core/engine/migration/transfers.hpp"

#include <algorithm>

namespace hbf::kv {

void Transfers::start() {
    thread_ = std::thread([this] {
        for (;;) {
            {
                std::unique_lock lock(mutex_);
                changed_.wait(lock, [this] { return stopping_ || woken_.load() || !loads_.empty() || !stores_.empty(); });
                if (stopping_) return;
                woken_.store(false);
            }
            if (decide_) decide_();
            (void)run_one();
        }
    });
}

void Transfers::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
        counts_.cancelled += loads_.size() + stores_.size();
        loads_.clear();
        stores_.clear();
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

uint64_t Transfers::add(BlockId block, Tier to, bool load, Clock::time_point deadline, uint8_t why) {
    std::lock_guard lock(mutex_);
    if (stopping_ || loads_.size() + stores_.size() >= most_) {
        ++counts_.refused;
        return 0;
    }
    (load ? loads_ : stores_).push_back({block, to, load, why, deadline, ++last_ticket_});
    changed_.notify_all();
    return last_ticket_;
}

void Transfers::wake() {
    {
        const std::lock_guard lock(mutex_);
        woken_.store(true);
    }
    changed_.notify_all();
}

void Transfers::nudge() noexcept {
    if (!woken_.exchange(true)) changed_.notify_all();
}

bool Transfers::cancel(uint64_t ticket) {
    std::lock_guard lock(mutex_);
    for (auto *line : {&loads_, &stores_}) {
        const auto found = std::find_if(line->begin(), line->end(), [&](const auto &one) { return one.ticket == ticket; });
        if (found == line->end()) continue;
        line->erase(found);
        ++counts_.cancelled;
        changed_.notify_all();
        return true;
    }
    return false;
}

bool Transfers::next(Transfer &out) {
    for (auto *line : {&loads_, &stores_}) {
        while (!line->empty()) {
            out = line->front();
            line->pop_front();
            if (Clock::now() < out.deadline) return true;
            ++counts_.expired; // whoever asked for it has gone on without it
        }
    }
    return false;
}

bool Transfers::run_one() {
    Transfer transfer;
    {
        std::lock_guard lock(mutex_);
        if (!next(transfer)) {
            changed_.notify_all();
            return false;
        }
        ++running_;
    }
    const bool done = work_(transfer);
    std::lock_guard lock(mutex_);
    --running_;
    ++(done ? counts_.done : counts_.failed);
    changed_.notify_all();
    return true;
}

void Transfers::wait_idle() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return running_ == 0 && loads_.empty() && stores_.empty(); });
}

Transfers::Counts Transfers::counts() const {
    std::lock_guard lock(mutex_);
    return counts_;
}

size_t Transfers::waiting() const {
    std::lock_guard lock(mutex_);
    return loads_.size() + stores_.size();
}

} // namespace hbf::kv
