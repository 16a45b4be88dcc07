// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/doctor.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/common/suggest.hpp"
#include "core/host/root.hpp"
#include "tools/doctor/look.hpp"

namespace hbf::tools::doctor {
namespace {

std::string_view family_of(std::string_view id) {
    return id.substr(0, id.find('.'));
}

} // namespace

std::string_view to_string(Verdict verdict) noexcept {
    switch (verdict) {
    case Verdict::not_applicable:
        return "not applicable";
    case Verdict::pass:
        return "pass";
    case Verdict::warn:
        return "warn";
    case Verdict::fail:
        return "fail";
    case Verdict::cannot_tell:
        break;
    }
    return "cannot tell";
}

std::string_view id_of(Verdict verdict) noexcept {
    if (verdict == Verdict::not_applicable) return "not_applicable";
    return verdict == Verdict::cannot_tell ? "cannot_tell" : to_string(verdict);
}

std::vector<Check> all_checks() {
    std::vector<Check> out;
    for (const auto family : {host_checks, kernel_checks, memory_checks, numa_checks, limit_checks, cgroup_checks,
                              pci_checks, iommu_checks, ecc_checks, storage_checks, nvme_checks, cxl_checks,
                              accelerator_checks, direct_checks, environment_checks, version_checks}) {
        const auto checks = family();
        out.insert(out.end(), checks.begin(), checks.end());
    }
    return out;
}

tl::expected<std::vector<Check>, std::string> choose_checks(const std::vector<std::string> &names) {
    auto all = all_checks();
    std::vector<std::string> known;
    for (const Check &check : all) {
        if (known.empty() || known.back().substr(0, known.back().find('.')) != family_of(check.id))
            known.emplace_back(family_of(check.id));
        known.emplace_back(check.id);
    }
    for (const std::string &name : names)
        if (std::find(known.begin(), known.end(), name) == known.end())
            return tl::unexpected(
                fmt::format("there is no check '{}'{}; hbf doctor --list shows them", name, did_you_mean(name, known)));
    if (!names.empty())
        std::erase_if(all, [&](const Check &check) {
            return std::none_of(names.begin(), names.end(),
                                [&](const std::string &name) { return name == check.id || name == family_of(check.id); });
        });
    return all;
}

size_t Examination::count(Verdict verdict) const {
    return static_cast<size_t>(
        std::count_if(findings.begin(), findings.end(), [&](const Finding &one) { return one.verdict == verdict; }));
}

std::string Examination::summary() const {
    std::string out = "doctor:";
    for (const Verdict verdict : all_verdicts)
        out += fmt::format("{} {} {}", out.back() == ':' ? "" : ",", count(verdict), to_string(verdict));
    return out;
}

Examination examine(const std::filesystem::path &root, const std::vector<Check> &checks, const KnownBad &known_bad) {
    Examination out;
    out.root = root.string();
    Machine machine(root);
    for (const Check &check : checks) {
        Look look(machine, known_bad);
        check.look(look);
        out.findings.push_back(look.finish(check));
    }
    return out;
}

Examination preflight() {
    auto list = load_known_bad("");
    KnownBad none;
    if (!list) none.error = list.error();
    return examine(host::machine_root("/"), all_checks(), list ? *list : none);
}

} // namespace hbf::tools::doctor
