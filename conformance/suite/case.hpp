// SPDX-License-Identifier: Apache-2.0
// A case: one named question to a plugin, with what it needs, the rules it checks and the mutants it must kill.
//
//     HBF_CASE("dma.copy.guard_bytes_untouched",
//              {.rules = {"HBF-DMA-2"}, .kills = {"m18_writes_guard_byte"}, .needs = need::cpu_tier}) {
//         Instance &device = context.subject().instance();
//         ...
//         context.check(before == after, "byte {} beyond the copy changed from {:#04x} to {:#04x}", ...);
//     }
//
// Names are `group.subject.behaviour[.variant]`, [a-z0-9_.], at most 120 characters, frozen once released (names.frozen): a
// case that changes meaning gets a new name. A case passes when it made at least one check and none failed; one that checked
// nothing is an internal error of the suite, never a pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hbf::conformance {

class Context;

// Declared capabilities that a case depends on, bits. Not declared: not_supported. Declared, then refused: fail.
namespace need {
inline constexpr uint32_t cpu_tier = 1u << 0;      // a tier with CPU and DMA access
inline constexpr uint32_t dma_only_tier = 1u << 1; // a tier that only commands reach (storage)
inline constexpr uint32_t two_tiers = 1u << 2;
inline constexpr uint32_t cancel = 1u << 3;          // HBF_QUEUE_CAP_CANCEL
inline constexpr uint32_t crc = 1u << 4;             // HBF_QUEUE_CAP_CRC32C
inline constexpr uint32_t launch = 1u << 5;          // HBF_QUEUE_CAP_LAUNCH and hbf.kernels/1
inline constexpr uint32_t coherence = 1u << 6;       // hbf.coherence/1
inline constexpr uint32_t software_domain = 1u << 7; // a CPU-mapped tier in a software domain
inline constexpr uint32_t hardware_domain = 1u << 8; // a CPU-mapped tier in a hardware domain
inline constexpr uint32_t atomics = 1u << 9;         // a CPU-mapped tier whose domain declares 8-byte atomics
inline constexpr uint32_t persistent = 1u << 10;     // a tier whose named regions outlive the process
inline constexpr uint32_t register_host = 1u << 11;  // register_host is there
inline constexpr uint32_t health = 1u << 12;         // hbf.health/1
inline constexpr uint32_t third_party = 1u << 13;    // HBF_VISIBLE_THIRD_PARTY
inline constexpr uint32_t export_import = 1u << 14;  // export_region and import_region
// Capabilities that a masked run hides: all that a plugin may lack. The rest are facts about its tiers.
inline constexpr uint32_t maskable = cancel | crc | launch | coherence | register_host | health | export_import;
} // namespace need
std::string_view need_name(uint32_t bit); // "cancel"; one bit
std::string need_names(uint32_t bits);    // "cancel, crc"

// The smallest profile that runs a case.
enum class Profile : uint8_t { quick, full, soak };

struct CaseInfo {
    std::vector<std::string_view> rules = {}; // ids in docs/plugin-rules.md
    std::vector<std::string_view> kills = {}; // names in mutants/catalogue.cpp; empty only with `unproven`
    uint32_t needs = 0;                       // need:: bits
    Profile profile = Profile::quick;
    double budget_s = 0;            // for cases that go on until time is up: seconds under quick (full 10x, soak 100x)
    uint32_t limit_s = 20;          // watchdog under quick, on top of the budget; a slow machine must not reach it
    bool masked = false;            // run once more with the optional capabilities hidden: it must not notice
    bool host_side = false;         // asks libhbf, not the plugin (security, select)
    bool hidden = false;            // not part of a run: self-test and lying cases
    std::string_view unproven = {}; // why no mutant can kill it
};

struct Case {
    std::string_view name;
    CaseInfo info;
    void (*run)(Context &context) = nullptr;

    std::string_view group() const { return name.substr(0, name.find('.')); }
};

// Sorted by name, hidden ones too. Filled by HBF_CASE before main.
const std::vector<const Case *> &all_cases();
const Case *find_case(std::string_view name);

struct Registration {
    explicit Registration(const Case &entry); // a name that is there twice, or is no name, ends the program
};

} // namespace hbf::conformance

#define HBF_CASE_JOIN2(a, b) a##b
#define HBF_CASE_JOIN(a, b) HBF_CASE_JOIN2(a, b)
#define HBF_CASE(case_name, ...)                                                                                            \
    static void HBF_CASE_JOIN(hbf_case_run_, __LINE__)(::hbf::conformance::Context &);                                      \
    static const ::hbf::conformance::Case HBF_CASE_JOIN(hbf_case_, __LINE__){                                               \
        case_name, ::hbf::conformance::CaseInfo __VA_ARGS__, &HBF_CASE_JOIN(hbf_case_run_, __LINE__)};                      \
    static const ::hbf::conformance::Registration HBF_CASE_JOIN(hbf_case_entry_,                                            \
                                                                __LINE__){HBF_CASE_JOIN(hbf_case_, __LINE__)};              \
    static void HBF_CASE_JOIN(hbf_case_run_, __LINE__)([[maybe_unused]] ::hbf::conformance::Context & context)
