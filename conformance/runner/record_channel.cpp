// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/record_channel.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

namespace hbf::conformance {
namespace {

constexpr std::string_view head = "hbf-case-record ";

// Near the top of what the process may open: above what a careless plugin closes, and out of the way of what it opens.
int high_number() {
    rlimit limit = {};
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 100;
    return static_cast<int>(std::clamp<rlim_t>(limit.rlim_cur, 128, 1u << 20)) - 28;
}

} // namespace

RecordWriter::RecordWriter(int inherited) : fd_(fcntl(inherited, F_DUPFD_CLOEXEC, high_number())) {
    if (fd_ < 0) fd_ = fcntl(inherited, F_DUPFD_CLOEXEC, 64);
    if (fd_ >= 0) close(inherited);
}

bool RecordWriter::write(std::string_view json) const {
    const std::string frame = framed(json);
    std::string_view rest = frame;
    while (!rest.empty()) {
        const ssize_t count = ::write(fd_, rest.data(), rest.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        rest.remove_prefix(static_cast<size_t>(count));
    }
    return true;
}

std::string framed(std::string_view json) {
    return fmt::format("{}{}\n{}\n", head, json.size(), json);
}

tl::expected<std::string, ChannelFault> unframed(std::string_view received) {
    const auto broken = [](std::string what) { return tl::unexpected(ChannelFault{ChannelFault::broken, std::move(what)}); };
    if (received.empty()) return tl::unexpected(ChannelFault{ChannelFault::empty, "no record came"});
    if (!received.starts_with(head)) return broken("what came is no record of a case");
    size_t size = 0;
    const char *end = received.data() + received.size();
    const auto [at, error] = std::from_chars(received.data() + head.size(), end, size);
    if (error != std::errc{} || at == end || *at != '\n') return broken("the head of the record is damaged");
    const std::string_view body = received.substr(static_cast<size_t>(at + 1 - received.data()));
    if (body.size() < size + 1 || body[size] != '\n') return broken("the record is cut off");
    if (body.size() > size + 1)
        return broken(body.substr(size + 1).starts_with(head) ? "more than one record came" : "bytes follow the record");
    return std::string(body.substr(0, size));
}

} // namespace hbf::conformance
