// SPDX-License-Identifier: Apache-2.0
// hbf completion: the script that makes a shell complete hbf's commands.
#include <memory>

#include "core/output/stream.hpp"
#include "tools/cli/complete.hpp"
#include "tools/commands.hpp"

namespace hbf::tools {

Command completion_command() {
    auto shell = std::make_shared<std::string>();
    Command command;
    command.name = "completion";
    command.group = "Set up";
    command.summary = "print the script that makes a shell complete hbf's commands, options and values";
    command.description = "An installation brings these scripts to where the shells look for them. For a command that was "
                          "only built or unpacked, read the script in the shell's own start file.";
    command.examples = "  eval \"$(hbf completion bash)\"  in ~/.bashrc\n"
                       "  eval \"$(hbf completion zsh)\"   in ~/.zshrc, below compinit\n"
                       "  hbf completion fish > ~/.config/fish/completions/hbf.fish  once; fish reads it by itself\n";
    command.options = {{"SHELL", Choice{shell.get(), {"bash", "zsh", "fish"}}, "SHELL", "bash, zsh or fish", true}};
    command.run = [shell] {
        print(completion_script(*shell));
        return static_cast<int>(Exit::pass);
    };
    return command;
}

} // namespace hbf::tools
