// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/filter.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "conformance/runner/profile.hpp"
#include "core/common/suggest.hpp"

namespace hbf::conformance {
namespace {

bool matches(const std::string &pattern, const CaseEntry &entry) {
    if (entry.name == pattern) return true;
    if (entry.hidden) return false;
    if (pattern.find_first_of("*?") != std::string::npos) return glob_matches(pattern, entry.name);
    return entry.name.starts_with(pattern + ".");
}

bool any_matches(const std::vector<std::string> &patterns, const CaseEntry &entry) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const std::string &one) { return matches(one, entry); });
}

Profile profile_of(const CaseEntry &entry) {
    return profile_from(entry.profile).value_or(Profile::quick);
}

// Names, and each beginning of one up to a dot.
std::vector<std::string> words(const std::vector<CaseEntry> &all) {
    std::set<std::string> out;
    for (const CaseEntry &entry : all) {
        if (entry.hidden) continue;
        out.insert(entry.name);
        for (size_t dot = entry.name.find('.'); dot != std::string::npos; dot = entry.name.find('.', dot + 1))
            out.insert(entry.name.substr(0, dot));
    }
    return {out.begin(), out.end()};
}

std::string groups(const std::vector<CaseEntry> &all) {
    std::set<std::string> out;
    for (const CaseEntry &entry : all)
        if (!entry.hidden) out.insert(entry.group());
    return fmt::format("{}", fmt::join(out, ", "));
}

} // namespace

bool glob_matches(std::string_view pattern, std::string_view text) {
    size_t p = 0, t = 0, star = std::string_view::npos, from = 0;
    while (t < text.size()) {
        if (p < pattern.size() && pattern[p] == '*') {
            star = p++;
            from = t;
        } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
            ++p;
            ++t;
        } else if (star != std::string_view::npos) {
            p = star + 1;
            t = ++from;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

tl::expected<std::vector<CaseEntry>, std::string> choose_cases(const std::vector<CaseEntry> &all, const CaseFilter &filter) {
    for (const auto *patterns : {&filter.take, &filter.skip}) {
        for (const std::string &pattern : *patterns) {
            if (std::any_of(all.begin(), all.end(), [&](const CaseEntry &entry) { return matches(pattern, entry); }))
                continue;
            return tl::unexpected(fmt::format("no case matches '{}'{}; groups: {}; --list names all cases", pattern,
                                              did_you_mean(pattern, words(all)), groups(all)));
        }
    }
    std::vector<CaseEntry> out;
    Profile larger = filter.profile;
    for (const CaseEntry &entry : all) {
        const bool wanted = filter.take.empty() ? !entry.hidden : any_matches(filter.take, entry);
        if (!wanted || any_matches(filter.skip, entry)) continue;
        if (profile_of(entry) > filter.profile)
            larger = std::max(larger, profile_of(entry));
        else
            out.push_back(entry);
    }
    if (out.empty() && larger > filter.profile)
        return tl::unexpected(fmt::format("what matches is not part of the profile {}; add --profile {}",
                                          to_string(filter.profile), to_string(larger)));
    if (out.empty()) return tl::unexpected(std::string("every case that matches is skipped"));
    std::sort(out.begin(), out.end(), [](const CaseEntry &a, const CaseEntry &b) { return a.name < b.name; });
    return out;
}

} // namespace hbf::conformance
