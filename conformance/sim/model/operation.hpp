// SPDX-License-Identifier: Apache-2.0
// What can be put on a stream. A fixed size, so that a stream's ring of them is made once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "conformance/sim/model/memory.hpp"

namespace hbf::kernels::device {
struct Kernel;
}

namespace hbf::model {

class Event;
class Stream;

// A launch of one of the project's kernels, which runs as its host twin. Buffers are device addresses; with size 0 a buffer
// goes to the end of its block.
struct Launch {
    static constexpr uint32_t most_buffers = 16;
    static constexpr uint64_t most_arguments = 512; // bytes
    struct Buffer {
        uint64_t address = 0, size = 0;
    };

    const kernels::device::Kernel *kernel = nullptr;
    std::array<Buffer, most_buffers> buffers{};
    uint32_t groups[3] = {1, 1, 1}, group_size[3] = {1, 1, 1};
    alignas(16) std::array<std::byte, most_arguments> arguments{}; // kernel->arguments_size of them
};

// By "NAME/VERSION" or by the function's name in an image, "NAME"; nullptr: no such kernel.
HBF_MODEL_API const kernels::device::Kernel *find_kernel(std::string_view name) noexcept;

enum class Compare : uint8_t { equal, at_least, bits_set, any_clear }; // ==, cyclic >=, (x & v) != 0, ~(x | v) != 0

struct Operation {
    enum class Kind : uint8_t {
        nothing,       // a marker: over once its turn came
        copy,          // dst, src, size
        fill,          // dst, size, pattern (pattern_size bytes, repeated)
        launch,        // what launch says
        host_function, // function(argument), on a thread of the machine's, in which no emulated call may be made
        record,        // event becomes what it will be when all ahead of it is over
        wait_event,    // nothing after it begins before the event's record, as it was when this was submitted, is over
        signal,        // a flag event is set
        wait_signal,   // nothing after it begins before the flag event is set
        reset,         // a flag event is cleared
        barrier,       // of a stream out of order: nothing after it before all ahead of it
        write_value,   // size (4 or 8) bytes at dst become value, after all ahead of it can be seen
        wait_value,    // until the size (4 or 8) bytes at src compare with value
        free,          // memory at dst, in the stream's order
        write_back,    // lines of the device's agents in [dst, dst + size)
        invalidate,
    };

    Kind kind = Kind::nothing;
    bool together = false;  // with the operation ahead of it: the two may run in any order, or at once
    bool as_device = false; // of a copy: managed memory is named as the device's (fault wrong-kind)
    Compare compare = Compare::at_least;
    uint8_t pattern_size = 1; // 1, 2, 4, 8 or 16
    uint64_t dst = 0, src = 0, size = 0;
    uint64_t value = 0;
    std::array<std::byte, 16> pattern{};
    void (*function)(void *) = nullptr;
    void *argument = nullptr;
    Event *event = nullptr;
    std::unique_ptr<Launch> launch;      // of a launch
    std::unique_ptr<std::byte[]> staged; // of a copy: the bytes of src, taken at submit
    // Called once with how it ended, on a thread of the machine's, after the stream says so. No emulated call in it.
    void (*ended)(void *argument, Outcome outcome) = nullptr;
    void *ended_argument = nullptr;

    static Operation copy(uint64_t dst, uint64_t src, uint64_t size) {
        Operation operation;
        operation.kind = Kind::copy;
        operation.dst = dst;
        operation.src = src;
        operation.size = size;
        return operation;
    }
};

struct CopyRange {
    uint64_t dst = 0, src = 0, size = 0;
};

} // namespace hbf::model
