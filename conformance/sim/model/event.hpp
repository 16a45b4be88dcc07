// SPDX-License-Identifier: Apache-2.0
// Two kinds of events. A mark is recorded on a stream, as often as one likes: it stands for all that was ahead of its last
// record (CUDA, HIP, CNRT). A flag is set, cleared and waited for by operations and by the host (Level Zero).
//
// Events are made and destroyed by Machine. Any thread may call anything at any time.
#pragma once

#include <cstdint>
#include <memory>

#include "conformance/sim/model/stream.hpp"

namespace hbf::model {

enum class EventKind : uint8_t { mark, flag };

class HBF_MODEL_API Event {
public:
    EventKind kind() const noexcept;
    uint64_t flags() const noexcept; // the emulated runtime's own
    bool recorded() const;           // a mark that was recorded at least once

    // Of a mark: ok if never recorded, or what its record ended in; with a contract in which events carry no errors, ok. Of
    // a flag: ok if set. Else pending.
    Outcome query();
    Outcome synchronize(uint64_t timeout_ns = forever); // pending: the time ran out
    // When the last record was over, or the flag was set: ns of the steady clock, or of the
    // machine's virtual one. 0: it is not.
    uint64_t time_ns() const;

    void set();   // a flag, by the host
    void clear(); // a flag, by the host

    struct Parts; // lane.hpp
    explicit Event(std::shared_ptr<Parts> parts);
    ~Event();
    Event(const Event &) = delete;
    Event &operator=(const Event &) = delete;
    const std::shared_ptr<Parts> &parts() const noexcept { return parts_; }

private:
    std::shared_ptr<Parts> parts_;
};

} // namespace hbf::model
