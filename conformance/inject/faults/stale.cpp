// SPDX-License-Identifier: Apache-2.0
// Old bytes where new ones are due: of the source, as it was at the copy before, or of the destination, as it was.
#include <map>
#include <mutex>
#include <tuple>

#include "conformance/inject/data_fault.hpp"
#include "conformance/inject/rewrite_fault.hpp"

namespace hbf::inject {
namespace {

class Stale final : public DataFault {
public:
    using DataFault::DataFault;

    // Every copy is looked at, to know the generation before; an event is one whose source has changed since.
    bool picks(const hbf_command &command) override { return command.kind == HBF_COMMAND_COPY && in_tier(command); }
    void change(const Hit &hit) override {
        const hbf_copy &copy = hit.command.u.copy;
        const Span head{copy.dst, copy.dst_offset, std::min<uint64_t>(copy.size, settings().number("bytes"))};
        const auto now = device().touch().read(head.region, head.offset, head.size);
        if (!now) return;
        std::lock_guard lock(mutex_);
        std::vector<std::byte> &before = delivered_[{copy.src, copy.src_offset, copy.size}];
        const bool changed = !before.empty() && before != *now;
        if (changed && fires()) device().touch().write(head.region, head.offset, before);
        if (before.empty() && delivered_.size() > most_sources)
            delivered_.clear();
        else
            before = *now;
    }

private:
    static constexpr size_t most_sources = 16384;

    std::mutex mutex_;
    std::map<std::tuple<hbf_region, uint64_t, uint64_t>, std::vector<std::byte>> delivered_; // by source range
};
HBF_FAULT(Stale, "stale", "a copy delivers what its source held at the copy before, of the same range", parameter::tier,
          {.key = "bytes", .preset = "4096", .line = "so many from its start"});

class NotWritten final : public CommandFault {
public:
    using CommandFault::CommandFault;

    bool eligible(const hbf_command &command) override { return is_data(command) && in_tier(command); }
    void change(hbf_command &command) override { make_nothing(command); }
};
HBF_FAULT(NotWritten, "not-written", "a copy or fill does nothing: its destination keeps what it held", parameter::tier);

} // namespace
} // namespace hbf::inject
