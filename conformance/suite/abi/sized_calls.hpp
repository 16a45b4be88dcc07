// SPDX-License-Identifier: Apache-2.0
// Every call of the ABI that takes a sized struct, as a call on one such struct that the case makes as short or as long as a
// host of another version would.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/suite/call.hpp"
#include "conformance/suite/device.hpp"
#include "conformance/suite/guarded.hpp"
#include "conformance/suite/subject.hpp"

namespace hbf::conformance {

enum class Direction { in, out };

// A struct of type T and what is done with it. Written so that T is gone: cases walk a list of these.
struct SizedCall {
    std::string name; // "hbf.tier/1 alloc: desc"
    Direction direction;
    uint32_t min_size, known_size;
    struct Outcome {
        Call call;
        std::optional<uint64_t> touched; // bytes past the end
        bool size_kept = true;           // struct_size is as the host set it
        bool tail_kept = true;
        std::string wrong; // an output that says something else than with the full struct; "" good
    };
    std::function<Outcome(uint32_t size)> shortened; // in memory that ends where the struct does
    std::function<Outcome()> extended;               // with a tail of the future
};

// Of one instance; `subject` and `device` outlive the list.
std::vector<SizedCall> sized_calls(Subject &subject, Instance &device, hbf_queue *queue);

} // namespace hbf::conformance
