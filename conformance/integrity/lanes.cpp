// SPDX-License-Identifier: Apache-2.0
#include "conformance/integrity/lanes.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include <fmt/format.h>

namespace hbf::integrity {
namespace {

constexpr uint64_t page_size_4k = 4096;
constexpr double nearly_all = 0.9;
constexpr uint64_t enough_to_lean = 16; // below, one direction only is a coincidence
constexpr uint64_t enough_flips = 3;    // below, a lane is a coincidence
constexpr unsigned lowest_bit = 8;      // of addresses: below, modulo-20 looks at one value only, and lanes say more
constexpr size_t enough_addresses = 16; // below, every address bit agrees by chance

double share(uint64_t part, uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// A stuck line knows one direction.
bool one_way(const Lanes::Lane &lane) {
    return 10 * std::min(lane.up, lane.down) <= lane.all();
}

std::string direction(const Lanes::Lane &lane) {
    if (lane.down == 0) return "0->1 only";
    if (lane.up == 0) return "1->0 only";
    return "both ways";
}

} // namespace

void Lanes::add(uint64_t address, uint64_t expected, uint64_t actual) {
    const uint64_t flipped = expected ^ actual, base = address % 64 * 8;
    ++words_;
    ++flips_[static_cast<size_t>(std::popcount(flipped))];
    ++place_[address % 64 / 8];
    for (uint64_t rest = flipped; rest != 0; rest &= rest - 1) {
        const auto bit = static_cast<unsigned>(std::countr_zero(rest));
        ++(actual >> bit & 1 ? up_ : down_)[base + bit];
    }
    const uint64_t page = address / page_size_4k;
    if (pages_.size() < most_pages || pages_.contains(page))
        ++pages_[page];
    else
        ++beyond_;
    if (addresses_.size() < most_addresses) addresses_.insert(address);
}

uint64_t Lanes::up() const {
    return std::accumulate(up_.begin(), up_.end(), uint64_t{0});
}
uint64_t Lanes::down() const {
    return std::accumulate(down_.begin(), down_.end(), uint64_t{0});
}

std::vector<Lanes::Lane> Lanes::lanes(unsigned width) const {
    std::vector<Lane> out(width);
    for (unsigned i = 0; i < widest; ++i) {
        auto &lane = out[i % width];
        lane.lane = i % width;
        lane.up += up_[i];
        lane.down += down_[i];
    }
    return out;
}

Lanes::Lane Lanes::busiest(unsigned width) const {
    const auto all = lanes(width);
    return *std::max_element(all.begin(), all.end(), [](const Lane &a, const Lane &b) { return a.all() < b.all(); });
}

std::vector<std::pair<uint64_t, uint64_t>> Lanes::pages(uint64_t page_size) const {
    std::map<uint64_t, uint64_t> sums;
    for (const auto &[page, count] : pages_) sums[page * page_size_4k / page_size] += count;
    std::vector<std::pair<uint64_t, uint64_t>> out(sums.begin(), sums.end());
    std::stable_sort(out.begin(), out.end(), [](const auto &a, const auto &b) { return a.second > b.second; });
    return out;
}

std::optional<Lanes::AddressBit> Lanes::address_bit(uint64_t bytes) const {
    if (addresses_.size() < enough_addresses) return std::nullopt;
    std::optional<AddressBit> best;
    // One run of addresses agrees in all upper bits without meaning anything.
    const uint64_t span = *addresses_.rbegin() - *addresses_.begin();
    if (span < 16 * 8 * addresses_.size()) return std::nullopt;
    for (unsigned bit = lowest_bit; (uint64_t{2} << bit) <= bytes && bit < 48; ++bit) {
        if ((uint64_t{1} << bit) > span) break; // the wrong places do not reach across both values
        const auto set = static_cast<uint64_t>(
            std::count_if(addresses_.begin(), addresses_.end(), [&](uint64_t at) { return at >> bit & 1; }));
        const bool value = 2 * set >= addresses_.size();
        const double part = share(value ? set : addresses_.size() - set, addresses_.size());
        if (part >= 0.95 && (!best || part > best->share)) best = AddressBit{bit, value, part};
    }
    return best;
}

std::string Lanes::verdict(uint64_t bytes) const {
    if (bits() == 0) return "";
    const double per_word = static_cast<double>(bits()) / static_cast<double>(words_);
    const auto narrow = busiest(64), wide = busiest(widest);
    std::string text;
    if (addresses_.size() == 1 && per_word <= 4) {
        text = fmt::format("one place, {:#x}, bit {}, {}, wrong {} time{} => weak cell or a single transient",
                           *addresses_.begin(), narrow.lane, direction(narrow), words_, words_ == 1 ? "" : "s");
    } else if (share(narrow.all(), bits()) >= nearly_all && narrow.all() >= enough_flips && one_way(narrow)) {
        const bool in_line = share(wide.all(), bits()) >= nearly_all;
        const auto &lane = in_line ? wide : narrow;
        text = fmt::format("single lane {} of {}, {}, {:.0f} % => stuck data line", lane.lane, in_line ? widest : 64,
                           direction(lane), 100 * share(lane.all(), bits()));
    } else if (share(narrow.all(), bits()) >= nearly_all && narrow.all() >= enough_flips) {
        text =
            fmt::format("single lane {} of 64, both ways, {:.0f} % => no stuck line: an address bit, or a line that follows "
                        "its neighbour",
                        narrow.lane, 100 * share(narrow.all(), bits()));
    } else if (per_word >= 24 && per_word <= 40) {
        text = fmt::format("about half of the bits differ ({:.1f} of 64) => address, wrong granule or old data", per_word);
    } else if (bits() >= enough_to_lean && (up() == 0 || down() == 0)) {
        text = fmt::format("all flips are {}, {:.1f} bits a word => cells or lines that lose their charge",
                           up() == 0 ? "1->0" : "0->1", per_word);
    } else if (per_word <= 4) {
        text = fmt::format("scattered flips, {:.1f} bits a word, no lane above {:.0f} % => noise in transfer or storage",
                           per_word, 100 * share(narrow.all(), bits()));
    } else {
        text = fmt::format("{:.1f} bits a word, both ways, no lane above {:.0f} % => no known figure", per_word,
                           100 * share(narrow.all(), bits()));
    }
    if (const auto bit = address_bit(bytes))
        text += fmt::format("; address bit {} is {} in {:.0f} % of the wrong places => address line or bank", bit->bit,
                            bit->value ? 1 : 0, 100 * bit->share);
    return text;
}

} // namespace hbf::integrity
