// SPDX-License-Identifier: Apache-2.0
// An engine for tests: hands requests to a real one, shortened or answered otherwise as a script says.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>

#include "engine.hpp"

namespace hbf::host::testing {

struct Fault {
    uint32_t shorten_to = UINT32_MAX; // bytes the kernel is asked for at most; 0 counts as answer 0
    int32_t answer = 1;               // <= 0: answered with this, the kernel never asked
};

// Asked for each request with its number from 0 on.
using FaultScript = std::function<Fault(const IoRequest &, uint64_t number)>;

class FaultyEngine final : public Engine {
public:
    FaultyEngine(std::unique_ptr<Engine> engine, FaultScript script)
        : engine_(std::move(engine)), script_(std::move(script)) {}

    uint32_t capacity() const override { return engine_->capacity(); }
    void push(const IoRequest &request) override {
        Fault fault = script_(request, number_++);
        if (fault.answer <= 0 || fault.shorten_to == 0) {
            answered_.push_back({request.id, std::min(fault.answer, 0)});
            return;
        }
        IoRequest asked = request;
        asked.size = std::min(asked.size, fault.shorten_to);
        engine_->push(asked);
    }
    void flush() override { engine_->flush(); }
    size_t reap(std::span<IoDone> out, uint64_t timeout_ns) override {
        size_t count = 0;
        for (; count < out.size() && !answered_.empty(); answered_.pop_front()) out[count++] = answered_.front();
        return count + engine_->reap(out.subspan(count), count ? 0 : timeout_ns);
    }

private:
    std::unique_ptr<Engine> engine_;
    FaultScript script_;
    uint64_t number_ = 0;
    std::deque<IoDone> answered_;
};

} // namespace hbf::host::testing
