// SPDX-License-Identifier: Apache-2.0
// What hbf plugin check finds, a line each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hbf::tools::plugin {

enum class Verdict { pass, warn, fail, cannot_tell };
std::string_view to_string(Verdict verdict) noexcept; // "pass", ..., "cannot tell"

struct Finding {
    std::string check; // "file.exports": for programs, stays what it is
    std::string rule;  // "HBF-ABI-1", "" where no rule speaks of it
    Verdict verdict = Verdict::pass;
    std::string evidence, remedy; // remedy: "" with a pass
};

class Findings {
public:
    void pass(std::string check, std::string rule, std::string evidence);
    void warn(std::string check, std::string rule, std::string evidence, std::string remedy);
    void fail(std::string check, std::string rule, std::string evidence, std::string remedy);
    void cannot_tell(std::string check, std::string rule, std::string evidence, std::string remedy);

    const std::vector<Finding> &all() const { return all_; }
    size_t count(Verdict verdict) const;

private:
    void add(Finding finding);
    std::vector<Finding> all_;
};

} // namespace hbf::tools::plugin
