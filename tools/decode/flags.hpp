// SPDX-License-Identifier: Apache-2.0
// The command line of what decodes: hbf bench decode, hbf profile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/cli/command.hpp"
#include "tools/decode/decode.hpp"

namespace hbf::tools::decode {

struct Flags {
    std::string context, hbm = "20%", device; // context "": as much as there is memory for
    uint64_t layers = 1, steps = 10, block = 64, seed = 1;
};

// Options for a command; `flags` must outlive them.
std::vector<Option> options_of(Flags &flags);

// Opens the device and decodes. On failure: said on stderr after `command`, and the exit code in `exit`.
std::optional<Outcome> run(const std::string &command, const Flags &flags, Options &options, int &exit);

} // namespace hbf::tools::decode
