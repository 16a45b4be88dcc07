// SPDX-License-Identifier: Apache-2.0
#include "coherence.hpp"

#include <atomic>

#include <fmt/format.h>

#include "machine.hpp"
#include "text.hpp"

namespace hbf::host {
namespace {

// Widths whose loads and stores the compiler knows to be single instructions on every CPU it builds for.
constexpr uint32_t atomic_widths() {
    uint32_t widths = 0;
    if (std::atomic<uint8_t>::is_always_lock_free) widths += 1;
    if (std::atomic<uint16_t>::is_always_lock_free) widths += 2;
    if (std::atomic<uint32_t>::is_always_lock_free) widths += 4;
    if (std::atomic<uint64_t>::is_always_lock_free) widths += 8;
    return widths;
}

} // namespace

HostCoherence::HostCoherence(const std::filesystem::path &root) {
    auto line = read_number(root / "sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size");
    if (line && *line > 0) {
        line_ = *line;
        line_source_ = "sysfs";
    } else {
        line_ = 64;
        line_source_ = "assumed: sysfs names none";
    }
}

void HostCoherence::describe(uint32_t domain, hbf_domain_info &out) const {
    if (domain != 0) sdk::fail(HBF_INVALID, fmt::format("no coherence domain {}: the host has one, 0", domain));
    out.protocol = HBF_PROTOCOL_HARDWARE;
    out.granule = line_;
    out.agents = HBF_AGENT_CPU | HBF_AGENT_COPY_ENGINE;
    out.atomic_widths = atomic_widths();
    put_text(out.name, "host");
    put_text(out.detail,
             fmt::format("copies are CPU threads, caches snoop; line {} B ({}); atomics: compiler's lock-free widths", line_,
                         line_source_));
}

} // namespace hbf::host
