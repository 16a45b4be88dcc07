// SPDX-License-Identifier: Apache-2.0
// How a mutant, or what it is a mutant of, is put before a case.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "conformance/mutants/mutant.hpp"
#include "conformance/suite/subject.hpp"

namespace hbf::conformance {

struct Trial {
    std::filesystem::path program;             // hbf-case, or one with a guard taken out
    SubjectOptions subject;                    // an option's value may be "@folder"
    std::vector<std::string> environment = {}; // "NAME=value": the emulated machine, and where its runtime is found
    // What is the same for all trials of one kind: two mutants whose unmutated bases have one key have one base.
    std::string key() const;
};

// `mutated` false: the same, whole. The error says what is not there and why.
tl::expected<Trial, std::string> trial_of(const Mutant &mutant, bool mutated);

// An empty folder of this process, removed with the object, in place of each "@folder".
class TrialFolder {
public:
    explicit TrialFolder(SubjectOptions &subject); // makes none if none is named
    ~TrialFolder();
    TrialFolder(const TrialFolder &) = delete;
    TrialFolder &operator=(const TrialFolder &) = delete;

private:
    std::filesystem::path path_;
};

} // namespace hbf::conformance
