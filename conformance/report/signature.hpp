// SPDX-License-Identifier: Apache-2.0
// Signatures by keys of ssh (ssh-keygen -Y, OpenSSH 8.2 or later): everybody who submits has one.
#pragma once

#include <filesystem>
#include <string>

#include <tl/expected.hpp>

namespace hbf::conformance {

tl::expected<std::string, std::string> sign(const std::string &text, const std::filesystem::path &key);

// Who signed: the principal in `signers` (format: ssh-keygen(1), ALLOWED SIGNERS), or with no such file the fingerprint of
// the key, which says only that the text was not changed since.
tl::expected<std::string, std::string> check_signature(const std::string &text, const std::string &signature,
                                                       const std::filesystem::path &signers);

} // namespace hbf::conformance
