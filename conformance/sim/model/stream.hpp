// SPDX-License-Identifier: Apache-2.0
// A queue of operations on one device. What is submitted runs later, on threads of the device's, beside other streams and in
// an order between them that seeded dice choose; never inside the submitting call, unless the contract asks for that
// (pageable memory) or the machine's timing is `free`. Every operation has a number, from 1; the stream's progress is how
// far they are over without a gap.
//
// Streams are made and destroyed by Machine. Any thread may call anything at any time.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "conformance/sim/model/operation.hpp"

namespace hbf::model {

inline constexpr uint64_t forever = std::numeric_limits<uint64_t>::max(); // ns

struct StreamOptions {
    bool in_order = true;          // else only barriers and signals order what is in it, and `together` means nothing
    bool waits_for_default = true; // a blocking stream: see Contract::legacy_default_stream
    bool copies_only = false;      // a copy engine's: launches are unsupported
    int priority = 0;              // the emulated runtime's own: the dice do not look at it
    uint64_t flags = 0;            // the emulated runtime's own
};

class HBF_MODEL_API Stream {
public:
    int device() const noexcept;
    const StreamOptions &options() const noexcept;

    // Puts it at the end; its number. What it names is looked up when it runs: errors come later, through query() and its
    // kin. 0: the device is lost or broken, nothing was put (status() of the device says which).
    uint64_t submit(Operation &&operation);
    uint64_t submit(std::span<Operation> operations); // all under one lock; the last one's number

    // Checked first as far as a call can tell, pageable memory as the contract says; then submitted. ok or the error that
    // the call returns: lost, unknown_address, out_of_range, no_access, unsupported, invalid. Size 0 is nothing and ok.
    Outcome copy(uint64_t dst, uint64_t src, uint64_t size);
    Outcome copy_batch(std::span<const CopyRange> copies, bool together);                  // all or none
    Outcome fill(uint64_t dst, const void *pattern, uint32_t pattern_size, uint64_t size); // size: bytes, whole patterns
    Outcome launch(std::unique_ptr<Launch> launch);
    Outcome host_function(void (*function)(void *), void *argument);
    Outcome record(Event &event);
    Outcome wait(Event &event); // never recorded: nothing to wait for. Across devices, too.

    // pending, ok, or how the first operation failed. Once all is over.
    Outcome query();
    // Waits until all that was submitted before the call is over; pending: the time ran out.
    Outcome synchronize(uint64_t timeout_ns = forever);
    Outcome status() const; // the first failure so far; ok: none. Never pending.
    Outcome take_error();   // the same, and forgets it: the stream runs on
    uint64_t submitted() const noexcept;
    uint64_t completed() const noexcept; // the number of the last operation that is over, as are all ahead of it

    struct Parts; // the engines' side: lane.hpp
    explicit Stream(std::shared_ptr<Parts> parts);
    ~Stream();
    Stream(const Stream &) = delete;
    Stream &operator=(const Stream &) = delete;
    const std::shared_ptr<Parts> &parts() const noexcept { return parts_; }

private:
    std::shared_ptr<Parts> parts_;
};

} // namespace hbf::model
