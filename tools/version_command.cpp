// SPDX-License-Identifier: Apache-2.0
// hbf version: what --version says, also for programs.
#include <memory>

#include "core/output/json.hpp"
#include "core/output/stream.hpp"
#include "hbf/abi/version.h"
#include "hbf/system.hpp"
#include "tools/bandwidth/environment.hpp"
#include "tools/cli/version.hpp"
#include "tools/commands.hpp"

namespace hbf::tools {

Command version_command() {
    auto json = std::make_shared<bool>(false);
    Command command;
    command.name = "version";
    command.group = "Set up";
    command.summary = "version of this command, of libhbf and of the plugin ABI";
    command.examples = "  hbf version\n"
                       "  hbf version --json  with commit and compiler, for programs\n";
    command.options = {{"--json", json.get(), "", "one JSON document on stdout"}};
    command.run = [json] {
        if (!*json) {
            print(version_text());
            return static_cast<int>(Exit::pass);
        }
        const auto built = bandwidth::read_environment();
        print(Json::object({{"schema", "hbf.version"},
                            {"schema_version", 1},
                            {"tool_version", tool_version()},
                            {"libhbf_version", version()},
                            {"plugin_abi", Json::object({{"major", HBF_ABI_MAJOR_OF(HBF_ABI_VERSION)},
                                                         {"minor", HBF_ABI_MINOR_OF(HBF_ABI_VERSION)}})},
                            {"commit", built.git},
                            {"compiler", built.compiler}})
                  .dump());
        return static_cast<int>(Exit::pass);
    };
    return command;
}

} // namespace hbf::tools
