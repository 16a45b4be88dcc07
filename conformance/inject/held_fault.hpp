// SPDX-License-Identifier: Apache-2.0
// Base of faults that keep a batch back although submit has answered: so the device runs it later than the host thinks.
//
// Values count up, so the number that the plugin will give is known: it is told at once, and nothing else is submitted to
// that queue before the batch that is kept back, but what the fault itself wants to go first.
#pragma once

#include <deque>
#include <mutex>
#include <vector>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "conformance/inject/launch.hpp"

namespace hbf::inject {

class HeldFault : public Fault {
public:
    using Fault::Fault;
    hbf_status create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) override;
    hbf_status destroy_queue(Queue &queue, hbf_error *e) override;
    hbf_status free(hbf_region region, hbf_error *e) override;
    void destroy() override;
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override;

protected:
    struct State : QueueState {
        std::mutex mutex;  // taken for each submit to the layer below
        uint64_t last = 0; // value that was given last
        uint64_t told = 0; // value that was given last for a batch that was kept back
        std::vector<hbf_command> held;
        OwnedLaunches launches; // of those
        bool holds = false;
    };
    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<State>(); }
    State &state(Queue &queue) { return state_of<State>(queue); }

    // Whether this batch, which the plugin will surely take, is to be kept back. Called with the state's lock.
    virtual bool holds_back(State &) { return fires(); }
    // A batch comes while one is kept back: both go on, in the order that the fault is about; `value` is the new one's.
    virtual hbf_status next(Queue &queue, State &state, const hbf_batch *batch, uint64_t *out_value, hbf_error *e);
    // Whether a batch with such commands is one that could be kept back.
    virtual bool may_hold(const hbf_command &command) const { return is_data(command) && in_tier(command); }
    virtual void held(State &) {}   // a batch has just been kept back
    virtual void let_go(State &) {} // it is about to be submitted: its launches point to copies

    void release(Queue &queue); // what is kept back is submitted now
    void release_locked(Queue &queue, State &state);
    void release_all();
    std::mutex queues_mutex_;
    std::vector<Queue *> queues_;

private:
    bool harmless(const hbf_batch &batch) const;
};

} // namespace hbf::inject
