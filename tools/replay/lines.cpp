// SPDX-License-Identifier: Apache-2.0
#include "tools/replay/lines.hpp"

#include <cerrno>
#include <memory>
#include <system_error>
#include <vector>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "core/common/printable.hpp"

namespace hbf::replay {
namespace {

constexpr size_t longest_line = size_t{256} << 20;

std::string why(archive *handle) {
    const char *text = archive_error_string(handle);
    return text ? text : "no reason given";
}

} // namespace

tl::expected<void, std::string> read_lines(const std::filesystem::path &path, const TakeLine &take) {
    const std::string name = printable(path.string());
    const auto failed = [&](const std::string &what) { return tl::unexpected(fmt::format("{}: {}", name, what)); };
    struct stat facts{};
    if (::stat(path.c_str(), &facts) != 0) return failed(std::generic_category().message(errno));
    if (!S_ISREG(facts.st_mode)) return failed("not a regular file");
    if (facts.st_size == 0) return {};
    const std::unique_ptr<archive, decltype(&archive_read_free)> reader(archive_read_new(), archive_read_free);
    archive *handle = reader.get();
    if (!handle) return failed("no memory to read it");
#ifndef HBF_REPLAY_WITHOUT_ZSTD
    archive_read_support_filter_zstd(handle);
#endif
    archive_read_support_filter_gzip(handle);
    archive_read_support_format_raw(handle);
    archive_entry *entry = nullptr;
    if (archive_read_open_filename(handle, path.c_str(), 1 << 16) != ARCHIVE_OK ||
        archive_read_next_header(handle, &entry) != ARCHIVE_OK)
        return failed(why(handle));
    std::string rest;
    std::vector<char> piece(1 << 20);
    size_t number = 0;
    const auto one = [&](std::string_view line) -> std::string {
        ++number;
        if (line.ends_with('\r')) line.remove_suffix(1);
        const auto mistake = take(line, number);
        return mistake.empty() ? "" : fmt::format("{}:{}: {}", name, number, mistake);
    };
    while (true) {
        const la_ssize_t got = archive_read_data(handle, piece.data(), piece.size());
        if (got < 0) return failed(fmt::format("after line {}: {}", number, why(handle)));
        if (got == 0) break;
        rest.append(piece.data(), static_cast<size_t>(got));
        size_t at = 0;
        for (size_t end; (end = rest.find('\n', at)) != rest.npos; at = end + 1) {
            if (auto mistake = one(std::string_view(rest).substr(at, end - at)); !mistake.empty())
                return tl::unexpected(std::move(mistake));
        }
        rest.erase(0, at);
        if (rest.size() > longest_line) return failed(fmt::format("line {} is longer than 256 MiB", number + 1));
#ifdef HBF_REPLAY_WITHOUT_ZSTD
        if (number == 0 && rest.starts_with("\x28\xb5\x2f\xfd"))
            return failed("packed with zstd, which this build does not read: zstd -d unpacks it");
#endif
    }
    if (!rest.empty()) {
        if (auto mistake = one(rest); !mistake.empty()) return tl::unexpected(std::move(mistake));
    }
    return {};
}

} // namespace hbf::replay
