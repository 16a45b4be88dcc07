// SPDX-License-Identifier: Apache-2.0
// What is handed in: a run with all its reports, the log of each case, a statement of who hands in what, and sums over all
// of it, signed or not. And its check, which needs neither the device nor trust in whoever sent it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "conformance/report/archive.hpp"
#include "conformance/runner/record.hpp"

namespace hbf::conformance {

inline constexpr const char *sums_file = "SHA256SUMS", *signature_file = "SHA256SUMS.sig",
                            *statement_file = "statement.toml";
inline constexpr const char *signature_namespace = "hbf-conformance"; // ssh-keygen -Y sign -n

// A statement to fill in: what the run knows is there, company, product and contact are "".
std::string statement_template(const RunRecord &run);

// All files but sums and signature. The error names what is wrong in the statement.
tl::expected<Files, std::string> package_files(const RunRecord &run, const std::string &statement);
std::string sums_of(const Files &files);        // as sha256sum prints them
std::string package_name(const RunRecord &run); // "hbf-conformance-acme-gpu0-20261129T120000Z"

// The whole package as bytes; `key`: of ssh (a file, private or .pub of a key in the agent), "" unsigned.
tl::expected<std::string, std::string> make_package(const RunRecord &run, const std::string &statement,
                                                    const std::filesystem::path &key);

struct Finding {
    enum Kind { good, note, bad } kind;
    std::string text;
};
struct Verification {
    std::vector<Finding> findings;
    bool readable = true; // false: nothing could be decided
    bool accepted() const;
};
struct VerifyOptions {
    // The cases that have to be there in a run of a profile; empty, or an empty answer: not known.
    std::function<std::vector<std::string>(const std::string &profile)> must_run_of = {};
    std::filesystem::path signers; // allowed_signers file of ssh; "": who signed is not judged
};
Verification verify_package(const std::filesystem::path &file, const VerifyOptions &options);
std::string verification_text(const Verification &verification);

} // namespace hbf::conformance
