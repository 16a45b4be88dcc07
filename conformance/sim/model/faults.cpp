// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/model/faults.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "conformance/sim/dice.hpp"
#include "core/common/suggest.hpp"
#include "core/output/size.hpp"

namespace hbf::model {
namespace {

constexpr std::string_view keys[] = {"p", "after", "rate", "count", "device", "value"};

std::string with_dashes(std::string_view text) {
    std::string result(text);
    std::replace(result.begin(), result.end(), '_', '-');
    return result;
}

// Cuts off what lies before the next `mark`, which goes, too.
std::string_view next(std::string_view &rest, char mark) {
    const size_t at = std::min(rest.find(mark), rest.size());
    const std::string_view part = rest.substr(0, at);
    rest.remove_prefix(std::min(at + 1, rest.size()));
    return part;
}

Result<uint64_t> number(const FaultInfo &fault, std::string_view key, std::string_view text, uint64_t least) {
    const auto value = parse_number(text);
    if (value && *value >= least) return *value;
    return fail(Code::invalid,
                fmt::format("fault {}: {}=\"{}\": must be a number, {} or more", fault.name, key, text, least));
}

Result<void> set(FaultSetting &setting, const FaultInfo &fault, std::string_view key, std::string_view text) {
    if (key == "p") {
        const auto value = parse_real(text);
        if (!value || *value < 0 || *value > 1)
            return fail(Code::invalid, fmt::format("fault {}: p=\"{}\": must be from 0 to 1", fault.name, text));
        setting.p = *value;
        return {};
    }
    const auto value = number(fault, key, text, key == "rate" ? 1 : 0);
    if (key == "after" || key == "rate" || key == "count" || key == "value" || key == "device") {
        if (!value) return tl::unexpected(value.error());
        if (key == "after") setting.after = *value;
        if (key == "rate") setting.rate = *value;
        if (key == "count") setting.count = *value;
        if (key == "value") setting.value = *value;
        if (key != "device") return {};
        if (*value > 1023) return fail(Code::invalid, fmt::format("fault {}: device={}: no such device", fault.name, text));
        setting.device = static_cast<int>(*value);
        return {};
    }
    const std::vector<std::string> known(std::begin(keys), std::end(keys));
    return fail(Code::invalid, fmt::format("fault {}: no parameter \"{}\"{}; there are p, after, rate, count, device, value",
                                           fault.name, key, did_you_mean(key, known)));
}

Result<FaultSetting> parse_one(std::string_view text) {
    const std::string name = with_dashes(next(text, ':'));
    const auto &all = all_faults();
    const auto found = std::find_if(all.begin(), all.end(), [&](const FaultInfo &info) { return info.name == name; });
    if (found == all.end()) {
        std::vector<std::string> known;
        for (const FaultInfo &info : all) known.emplace_back(info.name);
        return fail(Code::invalid,
                    fmt::format("no fault \"{}\"{}; \"help\" in its place lists them", name, did_you_mean(name, known)));
    }
    FaultSetting setting;
    setting.fault = static_cast<Fault>(found - all.begin());
    while (!text.empty()) {
        std::string_view value = next(text, ',');
        const std::string_view key = next(value, '=');
        if (auto done = set(setting, *found, key, value); !done) return tl::unexpected(done.error());
    }
    return setting;
}

} // namespace

const std::vector<FaultInfo> &all_faults() {
    static const std::vector<FaultInfo> table = {
#define HBF_MODEL_FAULT(id, name, where, line) {name, where, line},
#include "conformance/sim/model/fault_table.inc"
#undef HBF_MODEL_FAULT
    };
    return table;
}

Result<std::vector<FaultSetting>> parse_faults(std::string_view text) {
    std::vector<FaultSetting> settings;
    while (!text.empty()) {
        const std::string_view one = next(text, ';');
        if (one.empty()) continue;
        auto setting = parse_one(one);
        if (!setting) return tl::unexpected(setting.error());
        settings.push_back(*setting);
    }
    return settings;
}

std::string faults_help() {
    std::string text = "Each takes :p=,after=,rate=,count=,device=,value=.\n";
    for (const FaultInfo &info : all_faults()) text += fmt::format("  {:<24} {} ({})\n", info.name, info.line, info.where);
    return text;
}

Faults::Faults(std::vector<FaultSetting> settings, uint64_t seed) : state_(seed) {
    for (const FaultSetting &setting : settings) settings_.push_back(std::make_unique<Live>(setting));
}

uint64_t Faults::dice(uint64_t below) noexcept {
    return sim::Dice(state_.fetch_add(0x9e3779b97f4a7c15u, std::memory_order_relaxed)).below(below);
}

bool Faults::roll(Fault fault, int device) noexcept {
    for (const auto &live : settings_) {
        const FaultSetting &setting = live->setting;
        if (setting.fault != fault || (setting.device >= 0 && setting.device != device)) continue;
        const uint64_t event = live->seen.fetch_add(1, std::memory_order_relaxed);
        if (event < setting.after || (event - setting.after) % setting.rate != 0) continue;
        constexpr uint64_t parts = uint64_t{1} << 53;
        if (setting.p < 1 && static_cast<double>(dice(parts)) >= setting.p * static_cast<double>(parts)) continue;
        if (live->hit.fetch_add(1, std::memory_order_relaxed) < setting.count || setting.count == 0) return true;
    }
    return false;
}

bool Faults::on(Fault fault, int device) const noexcept {
    return std::any_of(settings_.begin(), settings_.end(), [&](const auto &live) {
        return live->setting.fault == fault && (live->setting.device < 0 || live->setting.device == device);
    });
}

uint64_t Faults::value(Fault fault, uint64_t otherwise) const noexcept {
    for (const auto &live : settings_)
        if (live->setting.fault == fault && live->setting.value != 0) return live->setting.value;
    return otherwise;
}

uint64_t Faults::hits(Fault fault) const noexcept {
    uint64_t sum = 0;
    for (const auto &live : settings_) {
        const uint64_t hit = live->hit.load(std::memory_order_relaxed);
        if (live->setting.fault == fault) sum += live->setting.count ? std::min(hit, live->setting.count) : hit;
    }
    return sum;
}

} // namespace hbf::model
