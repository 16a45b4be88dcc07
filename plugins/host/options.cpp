// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <functional>
#include <vector>

#include <fmt/format.h>

namespace hbf::host {
namespace {

struct Unit {
    std::string_view name;
    uint64_t bytes;
};
constexpr Unit units[] = {{"", 1},
                          {"B", 1},
                          {"kB", 1000},
                          {"KB", 1000},
                          {"MB", 1000000},
                          {"GB", 1000000000},
                          {"TB", 1000000000000},
                          {"KiB", 1ull << 10},
                          {"MiB", 1ull << 20},
                          {"GiB", 1ull << 30},
                          {"TiB", 1ull << 40}};

bool parse_switch(std::string_view key, std::string_view text) {
    if (text == "true" || text == "yes" || text == "on" || text == "1") return true;
    if (text == "false" || text == "no" || text == "off" || text == "0") return false;
    sdk::fail(HBF_INVALID, fmt::format("option {}: \"{}\" is neither true nor false", key, text));
}

unsigned parse_count(std::string_view key, std::string_view text, unsigned most) {
    unsigned value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() || value > most)
        sdk::fail(HBF_INVALID, fmt::format("option {}: \"{}\" is not a whole number from 0 to {}", key, text, most));
    return value;
}

size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (size_t i = 1; i <= a.size(); ++i) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); ++j) {
            size_t above = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
            diagonal = above;
        }
    }
    return row[b.size()];
}

using Setter = std::function<void(HostOptions &, std::string_view key, std::string_view text)>;
struct Known {
    std::string_view key;
    Setter set;
};

const std::vector<Known> &known_options() {
    static const std::vector<Known> known = {
        {"storage_path",
         [](HostOptions &o, std::string_view key, std::string_view text) {
             if (text.empty() || text[0] != '/')
                 sdk::fail(HBF_INVALID, fmt::format("option {}: \"{}\" is not an absolute path", key, text));
             o.storage.path = text;
         }},
        {"storage_bytes", [](HostOptions &o, auto key, auto text) { o.storage.capacity = parse_size(key, text); }},
        {"storage_overwrite", [](HostOptions &o, auto key, auto text) { o.storage.overwrite = parse_switch(key, text); }},
        {"dram_bytes", [](HostOptions &o, auto key, auto text) { o.memory.dram_bytes = parse_size(key, text); }},
        {"hbf_bytes", [](HostOptions &o, auto key, auto text) { o.memory.hbf_bytes = parse_size(key, text); }},
        {"workers", [](HostOptions &o, auto key, auto text) { o.workers = parse_count(key, text, 1024); }},
        {"direct", [](HostOptions &o, auto key, auto text) { o.storage.direct = parse_switch(key, text); }},
        {"uring", [](HostOptions &o, auto key, auto text) { o.storage.uring = parse_switch(key, text); }},
    };
    return known;
}

} // namespace

uint64_t parse_size(std::string_view key, std::string_view text) {
    size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    std::string_view number = text.substr(0, digits), unit = text.substr(digits);
    auto found = std::find_if(std::begin(units), std::end(units), [&](const Unit &u) { return u.name == unit; });
    auto refuse = [&](std::string_view why) {
        sdk::fail(HBF_INVALID,
                  fmt::format("option {}: \"{}\" {}; write bytes or a size such as 8GiB or 500MB", key, text, why));
    };
    if (found == std::end(units)) refuse("has no unit known here");
    if (number.find('.') == std::string_view::npos) { // whole numbers stay exact
        uint64_t value = 0, bytes = 0;
        auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
        if (number.empty() || error == std::errc::invalid_argument) refuse("is not a size");
        if (error != std::errc() || __builtin_mul_overflow(value, found->bytes, &bytes)) refuse("is larger than any memory");
        return bytes;
    }
    double value = 0;
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size()) refuse("is not a size");
    double bytes = value * static_cast<double>(found->bytes);
    if (bytes >= 0x1p63) refuse("is larger than any memory");
    return static_cast<uint64_t>(std::llround(bytes));
}

HostOptions parse_options(const sdk::Options &options, const std::string &system_root) {
    HostOptions result;
    result.memory.system_root = system_root.empty() ? "/" : system_root;
    for (const auto &[key, text] : options) {
        const auto &known = known_options();
        auto found = std::find_if(known.begin(), known.end(), [&](const Known &k) { return k.key == key; });
        if (found == known.end()) {
            auto near = std::min_element(known.begin(), known.end(), [&](const Known &a, const Known &b) {
                return edit_distance(a.key, key) < edit_distance(b.key, key);
            });
            sdk::fail(HBF_INVALID,
                      fmt::format("unknown option \"{}\" of plugin host; did you mean \"{}\"?", key, near->key));
        }
        found->set(result, key, text);
    }
    return result;
}

} // namespace hbf::host
