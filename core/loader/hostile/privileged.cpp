// SPDX-License-Identifier: Apache-2.0
// A program that a test makes set-uid: says what a selection in it came to, one word a line.
#include <cstdio>

#include "core/common/environment.hpp"
#include "hbf/selection.hpp"

// The leak check of a sanitized build needs rights that a set-uid process does not have.
extern "C" const char *__asan_default_options() {
    return "detect_leaks=0";
}

int main() {
    std::printf("privileged %d\n", hbf::process_is_privileged() ? 1 : 0);
    const auto config = hbf::Config::load();
    if (!config) return std::printf("error %s\n", config.error().message.c_str()), 3;
    hbf::SelectOptions options;
    options.open = false;
    const auto selection = hbf::select_plugins(*config, options);
    if (!selection) return std::printf("error %s\n", selection.error().message.c_str()), 3;
    for (const hbf::Candidate &candidate : selection->candidates) {
        std::printf("plugin %s %s %s\n", candidate.name.c_str(), std::string(to_string(candidate.reason)).c_str(),
                    candidate.detail.c_str());
    }
    for (const std::string &note : selection->notes) std::printf("note %s\n", note.c_str());
    return 0;
}
