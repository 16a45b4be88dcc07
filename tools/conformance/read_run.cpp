// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include "conformance/runner/record_json.hpp"
#include "core/common/read_file.hpp"
#include "tools/conformance/commands.hpp"

namespace hbf::tools {

tl::expected<conformance::RunRecord, std::string> read_run(const std::string &path) {
    constexpr size_t most = size_t{256} << 20;
    const auto text = read_file(path, most);
    if (!text) return tl::unexpected(text.error().message);
    const auto json = Json::parse(*text);
    if (!json) return tl::unexpected(fmt::format("{}: {}", path, json.error()));
    auto run = conformance::run_record_from(*json);
    if (!run) return tl::unexpected(fmt::format("{}: {}", path, run.error()));
    return run;
}

} // namespace hbf::tools
