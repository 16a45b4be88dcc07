// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/complete.hpp"

extern "C" {
extern const char hbf_completion_bash[], hbf_completion_bash_end[];
extern const char hbf_completion_zsh[], hbf_completion_zsh_end[];
extern const char hbf_completion_fish[], hbf_completion_fish_end[];
}

namespace hbf::tools {

std::string_view completion_script(std::string_view shell) {
    if (shell == "bash") return {hbf_completion_bash, hbf_completion_bash_end};
    if (shell == "zsh") return {hbf_completion_zsh, hbf_completion_zsh_end};
    if (shell == "fish") return {hbf_completion_fish, hbf_completion_fish_end};
    return {};
}

} // namespace hbf::tools
