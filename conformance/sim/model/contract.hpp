// SPDX-License-Identifier: Apache-2.0
// What a vendor's documents promise of streams, as data: an emulated runtime sets it once, before its first stream, and a
// misreading of a contract is another value of a field here or a fault of its own.
#pragma once

#include <cstdint>

namespace hbf::model {

// Asynchronous copies from and to memory that no runtime pinned.
enum class Pageable : uint8_t {
    staged,      // the source is taken before the call returns; a copy to such memory is over when the call returns
    synchronous, // the call returns when the copy is over
    late,        // the source is read when the copy runs, and the destination written then, as with pinned memory
};

struct Contract {
    Pageable pageable = Pageable::staged;
    bool sticky_errors = true;         // a fatal error breaks the device: whatever comes after it fails in the same way
    bool stop_after_error = true;      // operations after a failed one of their stream do not run, and fail in the same way
    bool events_carry_errors = true;   // else an event is over and well once its turn came, whatever failed ahead of it
    bool free_waits = true;            // a free first waits for the device's work; else work in flight meets no memory
    bool legacy_default_stream = true; // the default stream and blocking streams of its device wait for each other
};

} // namespace hbf::model
