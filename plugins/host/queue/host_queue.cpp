// SPDX-License-Identifier: Apache-2.0
#include "host_queue.hpp"

#include <atomic>
#include <thread>

#include <fmt/format.h>

#include "copy_policy.hpp"
#include "driver.hpp"
#include "hbf/sdk/shell/queue_shell.hpp"
#include "validate.hpp"
#include "worker_pool.hpp"

namespace hbf::host {
namespace {

constexpr uint32_t max_depth = 1024, max_commands = 4096, max_queues = 256;
constexpr uint32_t usual_depth = 64, usual_commands = 1024;
constexpr uint64_t poll_up_to = 64 * 1024; // bytes: poll may not block, but a granule it may copy

uint32_t within(const char *what, uint32_t asked, uint32_t usual, uint32_t most) {
    if (asked > most) sdk::fail(HBF_EXHAUSTED, fmt::format("queue {} {} is over the limit of {}", what, asked, most));
    return asked ? asked : usual;
}

Clock::time_point deadline_in(uint64_t timeout_ns) {
    const auto now = Clock::now();
    const auto most = static_cast<uint64_t>((Clock::time_point::max() - now).count());
    return timeout_ns < most ? now + std::chrono::nanoseconds(timeout_ns) : Clock::time_point::max();
}

class HostQueue final : public sdk::Queue, private Task, private Held, private QueueFinder, private Driver::Announcer {
public:
    HostQueue(uint32_t depth, uint32_t commands, RegionTable &regions, StorageTier *storage,
              std::shared_ptr<WorkerPool> workers)
        : regions_(regions), workers_(std::move(workers)), slots_(depth, commands), commands_(commands),
          storage_(storage != nullptr), owned_timeline_(new Timeline(*this)), timeline_(owned_timeline_.get()),
          driver_(slots_, commands, regions, *timeline_, storage, *this, *this), helper_(*this) {}

    ~HostQueue() override {
        timeline_->abandon(); // from here on no other queue resumes this one ...
        workers_->remove(helper_);
        workers_->remove(*this);
        driver_.let_go(); // ... except the one that holds it back
        workers_->remove(*this);
        for (uint64_t value = timeline_->completed() + 1; value <= last_.load(); ++value) // only if the device is lost
            give_back(slots_[value].commands, slots_[value].count, regions_);
    }

    uint64_t submit(const sdk::BatchView &batch) override {
        if (batch.size() > commands_)
            sdk::fail(HBF_INVALID,
                      fmt::format("{} commands in a batch: this queue was made for {}", batch.size(), commands_));
        const uint64_t value = last_.load(std::memory_order_relaxed) + 1;
        if (value - timeline_->completed() > slots_.depth()) {
            drive({.memory_bytes = poll_up_to, .block = false}); // storage may be further than anyone looked
            if (value - timeline_->completed() > slots_.depth())
                sdk::fail(HBF_EXHAUSTED, fmt::format("{} values are in flight already", slots_.depth()));
        }
        const uint64_t completed = timeline_->completed();
        Command *const commands = slots_.room(batch.size(), completed + 1 == value ? 0 : completed + 1);
        take_commands(batch, regions_, *this, storage_, commands);
        slots_.taken(batch.size());
        Slot &slot = slots_[value];
        slot.value = value;
        slot.commands = commands;
        slot.count = static_cast<uint32_t>(batch.size());
        slot.set(Slot::waiting);
        last_.store(value, std::memory_order_release);
        drive({.memory_bytes = inline_up_to, .block = false});
        return value;
    }

    sdk::Progress poll() noexcept override {
        if (busy()) drive({.memory_bytes = poll_up_to, .block = false});
        return timeline_->progress();
    }

    bool wait(uint64_t value, uint64_t timeout_ns) override {
        if (timeline_->completed() >= value) return true;
        const auto deadline = deadline_in(timeout_ns);
        for (;;) {
            drive({.target = value, .deadline = deadline});
            if (timeline_->completed() >= value) return true;
            if (deadline != Clock::time_point::max() && Clock::now() >= deadline) return false;
            if (driver_.memory().help(deadline)) continue;
            if (driver_.memory().is_open()) { // the last turns are being taken: sooner done than a sleeper is woken
                std::this_thread::yield();
                continue;
            }
            const auto look_again = [this] {
                return driver_.memory().is_open() || (!driving_.load(std::memory_order_seq_cst) && !held_back());
            };
            (void)timeline_->sleep(value, deadline, look_again);
        }
    }

    bool cancel(uint64_t value) override {
        if (!slots_[value].move_on(value, Slot::cancelled)) return false;
        drive({.memory_bytes = 0, .block = false}); // it may be its turn already
        return true;
    }

    std::optional<sdk::Failure> failure() const override { return timeline_->failure(); }

    bool idle() noexcept override {
        if (busy()) drive({.memory_bytes = poll_up_to, .block = false});
        return !busy();
    }

private:
    bool busy() const noexcept { return timeline_->completed() < last_.load(std::memory_order_seq_cst); }

    // Nothing can be done until another queue resumes this one.
    bool held_back() const noexcept { return stuck_.load(std::memory_order_relaxed) && driver_.held_back(); }

    // Drives, unless someone else does; that one looks again before it leaves. What is left for a worker goes to one.
    void drive(Limits limits) noexcept {
        for (;;) {
            if (driving_.exchange(true, std::memory_order_seq_cst)) return;
            const Driver::Stop stop = driver_.run(last_, limits);
            const uint64_t seen = driver_.seen();
            stuck_.store(stop == Driver::Stop::queue, std::memory_order_relaxed);
            // Both sides exchange: whoever found this taken wrote what it wanted before, and it is seen from here on.
            (void)driving_.exchange(false, std::memory_order_seq_cst);
            const bool left = stop == Driver::Stop::memory || stop == Driver::Stop::time;
            if (left || (wanted_.load(std::memory_order_relaxed) && wanted_.exchange(false) && busy() && !held_back()))
                workers_->schedule(*this);
            if (busy() && timeline_->has_sleepers()) timeline_->wake(); // one of them drives on
            if (last_.load(std::memory_order_seq_cst) == seen) return;
            limits = {.memory_bytes = poll_up_to, .block = false}; // submitted meanwhile, trusting in this
        }
    }

    void run() noexcept override { // a worker
        wanted_.store(true, std::memory_order_release);
        (void)driver_.memory().help(Clock::time_point::max());
        drive({.give_way = workers_.get()});
    }

    void resume() noexcept override {
        driver_.held_no_more(); // first: whoever drives now may still think so, and leaves the rest to the worker
        workers_->schedule(*this);
    }
    void hasten() noexcept override { workers_->schedule(*this); }

    // Besides this thread one waits, as a rule, and helps: more only where there are CPUs for them.
    void announce(uint64_t turns) noexcept override {
        if (timeline_->has_sleepers()) timeline_->wake();
        if (workers_->workers() > 1 && workers_->cpus() > 2 && turns >= 8) workers_->schedule(helper_);
    }

    struct Helper final : Task {
        explicit Helper(HostQueue &owner) : queue(owner) {}
        void run() noexcept override { (void)queue.driver_.memory().help(Clock::time_point::max()); }
        HostQueue &queue;
    };

    Timeline *find(hbf_queue *handle, uint64_t value) override {
        const auto *const shell = sdk::shell::QueueShell::of(handle);
        auto *const queue = static_cast<HostQueue *>(shell->queue.get());
        if (value == 0 || value > queue->last_.load(std::memory_order_acquire)) return nullptr;
        queue->timeline_->retain();
        return queue->timeline_;
    }

    struct Release {
        void operator()(Timeline *timeline) const noexcept { timeline->release(); }
    };

    RegionTable &regions_;
    const std::shared_ptr<WorkerPool> workers_;
    Slots slots_;
    const uint32_t commands_;
    const bool storage_;
    std::unique_ptr<Timeline, Release> owned_timeline_;
    Timeline *const timeline_;
    Driver driver_;
    Helper helper_;
    alignas(64) std::atomic<uint64_t> last_{0}; // submitted
    alignas(64) std::atomic<bool> driving_{false};
    std::atomic<bool> stuck_{false};  // the last driver left because another queue holds this one back
    std::atomic<bool> wanted_{false}; // a worker came while someone else drove
};

} // namespace

hbf_queue_info host_queue_info() {
    hbf_queue_info info{};
    info.struct_size = sizeof info;
    info.capabilities = HBF_QUEUE_CAP_CRC32C | HBF_QUEUE_CAP_CANCEL;
    info.visibility = HBF_VISIBLE_DEVICE | HBF_VISIBLE_HOST | HBF_VISIBLE_THIRD_PARTY;
    info.max_depth = max_depth, info.max_commands = max_commands, info.max_queues = max_queues;
    return info;
}

std::shared_ptr<WorkerPool> make_worker_pool(unsigned workers) {
    return std::make_shared<WorkerPool>(workers);
}

std::unique_ptr<sdk::Queue> make_host_queue(const sdk::QueueRequest &request, RegionTable &regions, StorageTier *storage,
                                            std::shared_ptr<WorkerPool> workers) {
    const uint32_t depth = within("depth", request.depth, usual_depth, max_depth);
    const uint32_t commands = within("commands", request.commands, usual_commands, max_commands);
    workers->start();
    return std::make_unique<HostQueue>(depth, commands, regions, storage, std::move(workers));
}

} // namespace hbf::host
