// SPDX-License-Identifier: Apache-2.0
// Writes where a command does not write at all: into its source, or into another region.
#include <map>
#include <mutex>

#include "conformance/inject/data_fault.hpp"

namespace hbf::inject {
namespace {

bool flip(uint64_t, std::span<std::byte> bytes) {
    for (std::byte &byte : bytes) byte = ~byte;
    return true;
}

class SourceChanged final : public DataFault {
public:
    using DataFault::DataFault;
    bool eligible(const hbf_command &command) override {
        return command.kind == HBF_COMMAND_COPY && DataFault::eligible(command);
    }
    void change(const Hit &hit) override { edit({hit.command.u.copy.src, hit.command.u.copy.src_offset, 1}, flip); }
};
HBF_FAULT(SourceChanged, "source-changed", "a copy changes the first byte of its source", parameter::tier);

// The next region is the one made after it in its tier, which is where it may well lie.
class NeighbourWrite final : public DataFault {
public:
    using DataFault::DataFault;

    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        const hbf_status status = DataFault::alloc(desc, out, e);
        if (status != HBF_OK || !usable(out, HBF_REGION_INFO_MIN_SIZE)) return status;
        std::lock_guard lock(mutex_);
        const auto last = last_.find(out->tier);
        if (last != last_.end() && before()) next_[out->region] = last->second;
        if (last != last_.end() && !before()) next_[last->second] = out->region;
        last_[out->tier] = out->region;
        return status;
    }
    bool eligible(const hbf_command &command) override {
        const Span range = destination(command);
        const bool at_edge = before() ? range.offset == 0 : range.offset + range.size == region_size(range.region);
        return DataFault::eligible(command) && at_edge && neighbour(range.region);
    }
    void change(const Hit &hit) override {
        if (const hbf_region other = neighbour(hit.written.region))
            edit({other, before() ? region_size(other) - 1 : 0, 1}, flip);
    }

private:
    bool before() const { return settings().text("side") == "before"; }
    hbf_region neighbour(hbf_region region) {
        std::lock_guard lock(mutex_);
        const auto found = next_.find(region);
        return found != next_.end() && region_size(found->second) > 0 ? found->second : 0;
    }
    std::mutex mutex_;
    std::map<hbf_region, hbf_region> next_;
    std::map<uint32_t, hbf_region> last_; // by tier
};
HBF_FAULT(NeighbourWrite, "neighbour-write", "a copy or fill that ends with its region goes on in the one made after it",
          parameter::tier,
          {.key = "side",
           .kind = Parameter::word,
           .preset = "after",
           .line = "or one that starts with its region begins in the one made before it",
           .choices = {"after", "before"}});

} // namespace
} // namespace hbf::inject
