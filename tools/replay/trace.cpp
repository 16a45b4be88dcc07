// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/trace.hpp"

#include <fmt/format.h>

#include "core/common/printable.hpp"
#include "tools/replay/builder.hpp"
#include "tools/replay/lines.hpp"

namespace hbf::replay {

uint64_t Trace::tokens() const {
    uint64_t sum = 0;
    for (const auto &access : accesses) sum += access.tokens;
    return sum;
}

tl::expected<Trace, std::string> read_trace(const std::filesystem::path &path, const std::string &format) {
    Trace trace;
    trace.name = printable(path.filename().string());
    trace.format = format;
    Builder builder;
    CsvReader csv;
    const auto read = read_lines(path, [&](std::string_view line, size_t number) -> std::string {
        if (trace.format == "auto") {
            if (line.find_first_not_of(" \t") == line.npos) return "";
            trace.format = !line.starts_with('{') ? "csv" : is_bailian(line) ? "bailian" : "mooncake";
        }
        return trace.format == "csv" ? csv.line(line, number, builder) : json_line(line, trace.format == "bailian", builder);
    });
    if (!read) return tl::unexpected(read.error());
    trace = builder.finish(std::move(trace));
    if (trace.accesses.empty()) return tl::unexpected(fmt::format("{}: no request in it", printable(path.string())));
    return trace;
}

} // namespace hbf::replay
