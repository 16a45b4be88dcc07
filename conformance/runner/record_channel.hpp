// SPDX-License-Identifier: Apache-2.0
// How one record travels from the case's process to the runner: framed, so that a half, a double or a foreign one is seen.
#pragma once

#include <string>
#include <string_view>

#include <tl/expected.hpp>

namespace hbf::conformance {

// The case's end. The plugin under test must neither inherit the descriptor nor meet it by its number.
class RecordWriter {
public:
    explicit RecordWriter(int inherited); // moves it to a high number, close-on-exec; the inherited number is closed
    bool usable() const { return fd_ >= 0; }
    bool write(std::string_view json) const; // false, with errno, if not all of it went out

private:
    int fd_;
};

std::string framed(std::string_view json);

// The runner's end, once the process is gone: exactly one whole frame, and nothing else.
struct ChannelFault {
    enum Kind { empty, broken } kind; // broken: a part, more than one, or what no case wrote
    std::string what;
};
tl::expected<std::string, ChannelFault> unframed(std::string_view received);

} // namespace hbf::conformance
