// SPDX-License-Identifier: Apache-2.0
// This program's memory allocation, which is the plugin's too, as it would be in any host: counted, and made to fail.
//
// A driver that the plugin opened is let be: what it takes is not counted as the plugin's, and does not fail
// (whose_code.hpp). Blocks that live are counted whoever took them.
//
// A plain build replaces malloc and its kin, so everything counts that does not keep a heap of its own. A sanitizer owns
// malloc; there operator new is replaced, and C allocations of a plugin are not seen. A case that depends on the count first
// sees the plugin allocate in a call that must, and else says not_observable.
#pragma once

#include <cstdint>

namespace hbf::conformance {

// Counts while it lives; of several the counts are shared, not lost.
class AllocationWatch {
public:
    AllocationWatch();
    ~AllocationWatch();
    AllocationWatch(const AllocationWatch &) = delete;
    AllocationWatch &operator=(const AllocationWatch &) = delete;

    uint64_t made() const;      // blocks allocated since construction, by any thread; a realloc that grows a block is one
    uint64_t made_here() const; // by the calling thread, which must be the one that constructed it
    int64_t live() const;       // blocks allocated less blocks freed since construction, by any thread

private:
    uint64_t made_, here_;
    int64_t live_;
};

// The `nth` allocation (1: the next one) of the calling thread fails, once: malloc gives NULL, operator new throws
// bad_alloc. Used in one thread, by one at a time.
class FailAllocation {
public:
    explicit FailAllocation(uint64_t nth);
    ~FailAllocation();
    FailAllocation(const FailAllocation &) = delete;
    FailAllocation &operator=(const FailAllocation &) = delete;
    bool happened() const;
    void disarm(); // before the caller itself allocates again
};

} // namespace hbf::conformance
