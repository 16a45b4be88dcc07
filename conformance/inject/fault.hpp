// SPDX-License-Identifier: Apache-2.0
// A fault: a layer with a name, a line for people, and parameters. One file each in faults/, or one for a few that are
// alike:
//
//     namespace hbf::inject { namespace {
//     class SwapEnds final : public Fault {
//         using Fault::Fault;
//         hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *value, hbf_error *e) override { ... }
//     };
//     HBF_FAULT(SwapEnds, "src-dst-swapped", "a copy inside one tier goes the wrong way round", {parameter::tier});
//     } }
//
// Faults are listed, documented and parsed from what is registered here.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/inject/device.hpp"
#include "conformance/inject/layer.hpp"
#include "conformance/inject/settings.hpp"

namespace hbf::inject {

// When a fault acts. Every fault has these: `after` events pass, of those that follow every rate-th is hit, and no more than
// `count` are. Which events count, its line says.
class Trigger {
public:
    explicit Trigger(const Settings &settings)
        : after_(settings.number("after")), rate_(settings.number("rate")), count_(settings.number("count")) {}
    bool fires() noexcept { // [any-thread] call once for each event
        const uint64_t event = seen_.fetch_add(1, std::memory_order_relaxed);
        if (event < after_ || (event - after_) % rate_ != 0) return false;
        return count_ == 0 || (event - after_) / rate_ < count_;
    }

private:
    const uint64_t after_, rate_, count_;
    std::atomic<uint64_t> seen_{0};
};

// How long a fault waits for the layer below. A fault below may let nothing complete: then this one does not act.
inline constexpr uint64_t patience_ns = 10'000'000'000;

class Fault : public Layer {
public:
    explicit Fault(const Settings &settings) : settings_(settings), trigger_(settings) {}

    // Once the instance is there, before the host has it. Throws sdk::Failure to refuse it. This one finds `tier`.
    virtual void started();

    void attach(Device &device) { device_ = &device; }
    // The host's own probe_in or create_in: probe and create get a copy of it.
    void given(const void *host_struct) { host_struct_ = host_struct; }
    const Settings &settings() const { return settings_; }

protected:
    Device &device() const { return *device_; }
    const void *host_struct() const { return host_struct_; }
    uint64_t seed() const { return settings_.number("seed"); }
    bool fires() noexcept { return trigger_.fires(); }
    // Whether no `tier` was asked for, or it is the one.
    bool in_tier(uint32_t tier) const { return tier_ == HBF_TIER_NONE || tier == tier_; }
    bool in_tier(const hbf_command &command) const; // of what a copy or fill writes
    // Waits for `value`, patience_ns at most: whether it completed, and neither it nor one before it failed.
    bool completes_well(Queue &queue, uint64_t value);

private:
    const Settings settings_;
    Trigger trigger_;
    Device *device_ = nullptr;
    const void *host_struct_ = nullptr;
    uint32_t tier_ = HBF_TIER_NONE;
};

struct FaultInfo {
    std::string_view name; // "drop-tail"; underscores do as well
    std::string_view line;
    std::vector<Parameter> parameters; // its own, without after, rate, count and seed
    std::unique_ptr<Fault> (*make)(const Settings &settings) = nullptr;

    std::vector<Parameter> all_parameters() const; // its own first
};

const std::vector<const FaultInfo *> &all_faults(); // by name

// Faults named by "NAME[,key=value...][;NAME2...]", the first lying nearest the device. Throws sdk::Failure INVALID naming
// what is wrong and the nearest that is known.
std::vector<std::unique_ptr<Fault>> make_faults(std::string_view text);

// For `hbf conformance --inject help`: every name with its line and parameters.
std::string faults_help();
// The same as a table in Markdown: docs/conformance.md holds it.
std::string faults_table();

namespace parameter {
inline const Parameter tier{.key = "tier", .kind = Parameter::name, .line = "only in the tier of this name"};
} // namespace parameter

struct FaultRegistration {
    explicit FaultRegistration(const FaultInfo &info);
};

} // namespace hbf::inject

#define HBF_FAULT(Class, fault_name, fault_line, ...)                                                                       \
    const ::hbf::inject::FaultInfo hbf_fault_##Class{                                                                       \
        fault_name,                                                                                                         \
        fault_line,                                                                                                         \
        {__VA_ARGS__},                                                                                                      \
        [](const ::hbf::inject::Settings &settings) -> std::unique_ptr<::hbf::inject::Fault> {                              \
            return std::make_unique<Class>(settings);                                                                       \
        }};                                                                                                                 \
    const ::hbf::inject::FaultRegistration hbf_fault_entry_##Class(hbf_fault_##Class)
