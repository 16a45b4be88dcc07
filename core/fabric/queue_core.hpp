// SPDX-License-Identifier: Apache-2.0
// A queue: a ring of batches between the caller and the plugin's queue.
//
// Three kinds of threads meet here. The submitter (one at a time) appends entries and, where nothing stands in the way,
// hands them to the plugin itself. Whoever polls or waits pumps: retires what is done, in order, and hands over what was
// held back; a try-flag lets one thread in and sends the others on. Both talk to the plugin's [serial] submit, but never at
// once: the submitter does so only while handed_ == submitted_, the pump only while handed_ < submitted_.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/fabric/device_core.hpp"
#include "core/fabric/op.hpp"
#include "core/fabric/queue_table.hpp"
#include "hbf/batch.hpp"
#include "hbf/queue.hpp"

namespace hbf::fabric {

class Program;
class QueueCore;

// A point that a batch waits for, and what keeps the plugin's queue alive that its wait command names.
struct Dep {
    std::shared_ptr<QueueCore> core; // nullptr: that queue is gone, its outcome known
    QueueEntry *entry = nullptr;
    uint64_t value = 0;
};

enum class Stage : uint8_t {
    held,    // not at the device: something before it, or what it waits for, is not done
    running, // with the plugin, or in the hands of the Program
    removed, // will never run: cancelled, or what it waited for failed
};

struct Entry {
    // Read by any thread, to look at a value that may retire at the same time.
    std::atomic<uint64_t> value{0};        // 0: being written
    std::atomic<uint64_t> device_value{0}; // the plugin's value, 0 as long as it has none

    // The submitter's until published, then the pump's.
    Stage stage = Stage::held;
    bool cancelled = false; // completes as cancelled, whatever comes of it
    bool program = false;   // needs steps of the fabric's own around the device's work
    bool integrity = false; // some copy is checked
    Code code = Code::ok;   // removed: why
    uint32_t op_count = 0;
    uint32_t batch_size = 0; // ABI commands
    Op *ops = nullptr;       // the queue's store, `commands` of them
    OpData data;
    std::vector<Dep> deps;                            // one a wait in `data`
    std::vector<std::shared_ptr<DeviceCore>> foreign; // other devices whose regions are named
    VerifiedBy verified_by = VerifiedBy::nobody;
    uint64_t checked_bytes = 0;
};

class QueueCore : public std::enable_shared_from_this<QueueCore> {
public:
    static Result<std::shared_ptr<QueueCore>> create(const std::shared_ptr<DeviceCore> &device, const QueueOptions &options);
    ~QueueCore();
    void close() noexcept; // waits for all work; the Queue object's end

    Result<Point> submit(const Batch &batch);                                  // submit.cpp
    uint64_t poll() noexcept;                                                  // retire.cpp
    Result<Completion> status(uint64_t value);                                 // outcome.cpp
    Result<Completion> wait(uint64_t value, std::chrono::nanoseconds timeout); // wait.cpp
    Result<> on_complete(uint64_t value, std::function<void(const Result<Completion> &)> callback);
    Result<> cancel(uint64_t value); // outcome.cpp
    Result<> poisoned() const;

    // For batches of other queues that wait for a value of this one.
    Outcome outcome(uint64_t value) const noexcept;
    uint64_t device_value_of(uint64_t value) const noexcept; // 0: not with the plugin as it stands
    hbf_queue *plugin_queue() const { return queue_; }
    DeviceCore &device() const { return *device_; }
    bool pump() noexcept; // true if something moved

    // For the progress thread.
    bool wants_progress() const noexcept;
    void run_callbacks() noexcept;

    std::atomic<bool> watched{false};

    uint32_t number = 0;
    uint32_t depth() const { return depth_; }
    std::string staging() const;

private:
    friend class Program;
    struct Record { // outcome of a completed value, kept for a while; written by the pump, read by anyone
        std::atomic<uint64_t> value{0}, checked{0};
        std::atomic<uint32_t> code{0}, verified{0};
    };

    QueueCore() = default;
    Entry &entry_of(uint64_t value) const { return entries_[value & mask_]; }
    std::string title() const; // "queue 3 of host:host0"

    // submit.cpp, prepare.cpp
    Result<> prepare(Entry &entry, const Batch &batch);
    Result<> prepare_command(Entry &entry, Op &op, const Command &command, const Batch &batch);
    Result<> prepare_copy(Entry &entry, Op &op, const Command &command);
    Result<> prepare_launch(Entry &entry, Op &op, const Command &command, std::span<const KernelBuffer> buffers);
    Result<> pin_buffer(Entry &entry, const KernelBuffer &buffer);
    Result<> prepare_program(Entry &entry);
    Result<> choose_path(Entry &entry, Op &op);
    Result<RegionSlot *> pin(Entry &entry, Region region, uint64_t offset, uint64_t size, DeviceCore **owner);
    bool resolve_waits(Entry &entry) noexcept; // false: something is to be waited for here
    hbf_status hand_over(Entry &entry, hbf_error *error) noexcept;
    void release(Entry &entry) noexcept;

    // retire.cpp, all under pumping_
    bool retire() noexcept;
    bool hand_over_held() noexcept;
    bool finish_running(Entry &entry, uint64_t value) noexcept;
    void finish(Entry &entry, uint64_t value, Code code) noexcept;
    bool look_at_device() noexcept;
    bool deps_done(Entry &entry, uint64_t value, Code &code) noexcept;
    template <class Compose>
    void fail_with(uint64_t value, Code code, Compose &&compose) noexcept;
    template <class Compose>
    void remove(Entry &entry, Code code, Compose &&compose) noexcept;
    Error why_failed(const Entry &entry, uint64_t value, Code code) const;
    Error failure_of(const Dep &dep, uint64_t value, Code code) const;
    void note_cancelled(uint64_t value) noexcept;

    // outcome.cpp, wait.cpp
    Result<Completion> result_of(uint64_t value);
    void block(uint64_t value, uint64_t nanoseconds, unsigned &round) noexcept;

    std::shared_ptr<DeviceCore> device_;
    hbf_queue *queue_ = nullptr;
    QueueEntry *table_entry_ = nullptr;
    uint32_t depth_ = 0, commands_ = 0; // commands: of a batch as the caller writes it
    uint32_t abi_commands_ = 0;         // of a batch as the plugin gets it
    uint64_t mask_ = 0, history_mask_ = 0;
    std::unique_ptr<Entry[]> entries_;
    std::unique_ptr<Op[]> ops_;
    std::unique_ptr<hbf_command[]> abi_; // used by whoever may call the plugin's submit
    std::unique_ptr<Record[]> history_;
    std::atomic<Program *> program_{nullptr}; // made by the first submit that needs it

    std::atomic<bool> submitting_{false};
    alignas(64) std::atomic<uint64_t> submitted_{0}; // values returned by submit
    std::atomic<uint64_t> handed_{0};                // values that need no more of hand_over_held
    std::atomic<uint64_t> device_submitted_{0};      // the plugin's values
    std::atomic<uint64_t> device_announced_{0};      // the highest value the plugin may report: one more while in its submit
    std::atomic<bool> device_miscounts_{false};      // submit returned a value out of turn
    alignas(64) std::atomic<bool> pumping_{false};
    std::atomic<uint64_t> completed_{0};
    std::atomic<uint64_t> failed_{0};                   // lowest failed value
    uint64_t device_completed_ = 0, device_failed_ = 0; // as of the last look; the pump's
    Code device_code_ = Code::ok;
    std::shared_ptr<QueueCore> blocked_on_; // what the first held entry waits for; the pump's
    uint64_t blocked_value_ = 0;
    Error removed_error_; // why the entry that was removed last would fail; the pump's

    mutable std::mutex failure_mutex_; // failure_, cancelled_
    Error failure_;
    std::atomic<Code> failed_code_{Code::ok};
    std::vector<uint64_t> cancelled_; // in the order they retired, which is theirs
    std::atomic<bool> any_cancelled_{false};

    struct Callback {
        uint64_t value;
        std::function<void(const Result<Completion> &)> call;
        std::shared_ptr<QueueCore> queue; // lives until it was called, also when the Queue object is gone
    };
    std::mutex callbacks_mutex_;
    std::vector<Callback> callbacks_;
    std::atomic<uint32_t> callback_count_{0};
};

} // namespace hbf::fabric
