// SPDX-License-Identifier: Apache-2.0
#include "tools/plugin/finding.hpp"

#include <algorithm>
#include <utility>

#include "core/common/printable.hpp"

namespace hbf::tools::plugin {

std::string_view to_string(Verdict verdict) noexcept {
    switch (verdict) {
    case Verdict::pass:
        return "pass";
    case Verdict::warn:
        return "warn";
    case Verdict::fail:
        return "fail";
    case Verdict::cannot_tell:
        return "cannot tell";
    }
    return "cannot tell";
}

// Names and messages in the evidence are the plugin's, so they may be anything.
void Findings::add(Finding finding) {
    constexpr size_t longest = 2048;
    finding.evidence = printable(finding.evidence, longest);
    finding.remedy = printable(finding.remedy, longest);
    all_.push_back(std::move(finding));
}

void Findings::pass(std::string check, std::string rule, std::string evidence) {
    add({std::move(check), std::move(rule), Verdict::pass, std::move(evidence), ""});
}
void Findings::warn(std::string check, std::string rule, std::string evidence, std::string remedy) {
    add({std::move(check), std::move(rule), Verdict::warn, std::move(evidence), std::move(remedy)});
}
void Findings::fail(std::string check, std::string rule, std::string evidence, std::string remedy) {
    add({std::move(check), std::move(rule), Verdict::fail, std::move(evidence), std::move(remedy)});
}
void Findings::cannot_tell(std::string check, std::string rule, std::string evidence, std::string remedy) {
    add({std::move(check), std::move(rule), Verdict::cannot_tell, std::move(evidence), std::move(remedy)});
}

size_t Findings::count(Verdict verdict) const {
    return static_cast<size_t>(
        std::count_if(all_.begin(), all_.end(), [&](const Finding &f) { return f.verdict == verdict; }));
}

} // namespace hbf::tools::plugin
