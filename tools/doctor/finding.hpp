// SPDX-License-Identifier: Apache-2.0
// What one check came to. Whoever reads it needs nothing else to act on it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hbf::tools::doctor {

// In the order in which one outweighs another: of several devices the worst decides, and what could not be read outweighs
// a pass.
enum class Verdict : uint8_t { not_applicable, pass, cannot_tell, warn, fail };
inline constexpr std::array<Verdict, 5> all_verdicts = {Verdict::pass, Verdict::warn, Verdict::fail, Verdict::not_applicable,
                                                        Verdict::cannot_tell};

std::string_view to_string(Verdict verdict) noexcept; // "not applicable"
std::string_view id_of(Verdict verdict) noexcept;     // "not_applicable", in JSON

struct Seen { // raw evidence: a file of the machine and what stood in it
    std::string path, value;
};

struct Fix { // a command for people to copy; nobody here runs it
    std::string command, changes;
    bool lasts = false; // it survives a reboot
};

struct Finding {
    std::string id, title;
    Verdict verdict = Verdict::cannot_tell;
    std::string found; // one sentence
    std::vector<Seen> evidence;
    std::string why, remedy;
    std::vector<Fix> fixes;
    bool needs_root = false;        // something was refused to this user, or would have been told to root only
    std::vector<std::string> files; // every file below the root that was asked for, found or not
};

} // namespace hbf::tools::doctor
