// SPDX-License-Identifier: Apache-2.0
#include "conformance/integrity/tally.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace hbf::integrity {
namespace {

std::string where_from(const std::map<int64_t, uint64_t> &distances) {
    const auto most = std::max_element(distances.begin(), distances.end(),
                                       [](const auto &a, const auto &b) { return a.second < b.second; });
    if (most == distances.end()) return "";
    uint64_t all = 0;
    for (const auto &[distance, count] : distances) all += count;
    const int64_t distance = most->first;
    const auto size = static_cast<uint64_t>(distance < 0 ? -distance : distance);
    std::string text = fmt::format(", {}{:#x} bytes from where it belongs in {:.0f} %", distance < 0 ? "-" : "+", size,
                                   100.0 * static_cast<double>(most->second) / static_cast<double>(all));
    if (std::has_single_bit(size)) text += fmt::format(" (address bit {})", std::countr_zero(size));
    return text;
}

} // namespace

std::string_view to_string(Reread reread) {
    switch (reread) {
    case Reread::same:
        return "three re-reads give the same wrong value: stored or transferred wrong";
    case Reread::right:
        return "three re-reads give the right value: read error";
    case Reread::different:
        break;
    }
    return "re-reads differ: intermittent";
}

Reread judge_rereads(uint64_t expected, uint64_t first, const std::array<uint64_t, 3> &again) {
    const auto all = [&](uint64_t value) {
        return std::all_of(again.begin(), again.end(), [&](auto x) { return x == value; });
    };
    if (all(expected)) return Reread::right;
    return all(first) ? Reread::same : Reread::different;
}

std::string to_string(const ErrorRecord &r) {
    std::string text = fmt::format(
        "{} -> {}, {} pass {} generation {}, offset {:#x}: expected {:#018x}, found {:#018x}, xor "
        "{:#018x}; {}; {}; source {}",
        r.from, r.to, info_of(r.datum.pattern).name, r.datum.pass, r.datum.generation, r.offset, r.expected, r.actual,
        r.expected ^ r.actual, r.origin.text, to_string(r.reread), r.source_right ? "right" : "wrong too");
    if (r.repeat) text += *r.repeat ? "; right when transferred again" : "; wrong again when transferred again";
    return text;
}

conformance::Evidence evidence_of(const ErrorRecord &r) {
    conformance::Evidence e;
    e.fault_class = r.reread == Reread::right ? conformance::fault::read_error : r.origin.fault_class;
    e.tier = r.to;
    e.region = r.region;
    e.offset = r.offset;
    e.address = r.cpu_address;
    e.expected = r.expected;
    e.actual = r.actual;
    e.width = word_size;
    e.wrong_bytes = wrong_bytes_in(r.expected, r.actual);
    e.detail = to_string(r);
    return e;
}

uint64_t wrong_bytes_in(uint64_t expected, uint64_t actual) {
    uint64_t count = 0;
    for (uint64_t flipped = expected ^ actual; flipped; flipped >>= 8) count += (flipped & 0xff) != 0;
    return count;
}

bool Tally::stuck_lane() const {
    const auto lane = lanes.busiest(64);
    return lane.all() >= 3 && 10 * lane.all() >= 9 * lanes.bits();
}

void Tally::add(const ErrorRecord &record) {
    records.push_back(record);
    ++rereads[static_cast<size_t>(record.reread)];
    ++classes[std::string(record.reread == Reread::right ? conformance::fault::read_error : record.origin.fault_class)];
    if (record.origin.address) ++distances[static_cast<int64_t>(record.offset - *record.origin.address)];
}

std::string Tally::verdict() const {
    if (wrong_words() == 0) return "";
    uint64_t bytes = 0;
    for (const auto &pair : pairs) bytes = std::max(bytes, pair.region_bytes);
    namespace fault = conformance::fault;
    uint64_t seen = 0;
    for (const auto &[name, count] : classes) seen += count;
    const auto share = [&](std::string_view name) {
        const auto found = classes.find(std::string(name));
        return found == classes.end() ? 0.0 : static_cast<double>(found->second) / static_cast<double>(seen);
    };
    const auto words = [](double part, std::string_view what) {
        return fmt::format("{:.0f} % of the wrong words looked at {}", 100 * part, what);
    };
    const double misplaced = share(fault::misplaced), stale = share(fault::stale), never = share(fault::not_written);
    if (share(fault::read_error) >= 0.5)
        return words(share(fault::read_error), "are right when read again => the read path, not the stored bytes");
    if (share(fault::torn) >= 0.5) return words(share(fault::torn), "are half new and half old => the transfer tears words");
    // What is misdirected is missing where it belongs, too.
    if (misplaced >= 0.2 && misplaced + stale + never >= 0.5)
        return words(misplaced, "hold data of another place => misdirected") + where_from(distances);
    if (stale + never >= 0.5 && stale >= never)
        return words(stale + never, "hold data of an earlier generation => a write was dropped (stale)");
    if (stale + never >= 0.5) return words(stale + never, "were never written => the transfer stopped short or was dropped");
    return lanes.verdict(bytes);
}

} // namespace hbf::integrity
