// SPDX-License-Identifier: Apache-2.0
// Flush and invalidate of the wrong bytes, or at the wrong time.
#include <algorithm>

#include "conformance/inject/rewrite_fault.hpp"

namespace hbf::inject {
namespace {

class RangeWrong final : public RewriteFault {
public:
    explicit RangeWrong(const Settings &settings)
        : RewriteFault(settings), kind_(settings.text("kind") == "flush" ? HBF_COMMAND_FLUSH : HBF_COMMAND_INVALIDATE) {}

    bool rewrite(std::vector<hbf_command> &commands) override {
        bool changed = false;
        for (size_t i = 0; i < commands.size(); ++i) {
            if (commands[i].kind != kind_ || !fires()) continue;
            changed = true;
            const auto at = commands.begin() + static_cast<std::ptrdiff_t>(i);
            if (settings().text("what") == "early")
                std::rotate(commands.begin(), at, at + 1);
            else if (settings().text("what") == "late")
                std::rotate(at, at + 1, commands.end());
            else
                change(commands[i]);
        }
        return changed;
    }

private:
    void change(hbf_command &command) {
        hbf_range &range = command.u.range;
        const uint64_t bytes = std::max<uint64_t>(settings().number("bytes"), 1), end = range.offset + range.size;
        const auto region = device().regions().find(range.region);
        if (!region || end < range.offset || end > region->size) return; // for the plugin to refuse
        if (settings().text("what") == "wide") {
            const uint64_t first = range.offset > bytes ? range.offset - bytes : 0;
            range = {range.region, first, std::min(region->size, end + bytes) - first};
            return;
        }
        // Only the units that lie whole in the range.
        const uint64_t first = (range.offset + bytes - 1) / bytes * bytes, last = end / bytes * bytes;
        if (last <= first)
            make_nothing(command);
        else
            range = {range.region, first, last - first};
    }
    const hbf_command_kind kind_;
};
HBF_FAULT(
    RangeWrong, "range-wrong", "a flush or invalidate covers less or more than it names, or has another place in its batch",
    {.key = "kind", .kind = Parameter::word, .preset = "flush", .line = "of command", .choices = {"flush", "invalidate"}},
    {.key = "what",
     .kind = Parameter::word,
     .preset = "short",
     .line = "units cut at the edges are left out; as many bytes more on each side; or first or last in its batch",
     .choices = {"short", "wide", "early", "late"}},
    {.key = "bytes", .preset = "64", .line = "unit"});

class DomainLie final : public Fault {
public:
    using Fault::Fault;

    hbf_status describe_domain(uint32_t domain, hbf_domain_info *out, hbf_error *e) override {
        const hbf_status status = below_->describe_domain(domain, out, e);
        if (status != HBF_OK || !usable(out, HBF_DOMAIN_INFO_MIN_SIZE) || !fires()) return status;
        const std::string &what = settings().text("what");
        if (what == "hardware") out->protocol = HBF_PROTOCOL_HARDWARE;
        if (what == "software") out->protocol = HBF_PROTOCOL_SOFTWARE;
        if (what == "granule") out->granule = std::max<uint64_t>(out->granule / 2, 1);
        if (what == "atomics") out->atomic_widths |= 15;
        return status;
    }
};
HBF_FAULT(DomainLie, "domain-misdeclared", "a coherence domain is not what it declares",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "hardware",
           .line = "what it declares wrongly: protocol, half its granule, or all atomics",
           .choices = {"hardware", "software", "granule", "atomics"}});

} // namespace
} // namespace hbf::inject
