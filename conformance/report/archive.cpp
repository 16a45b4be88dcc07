// SPDX-License-Identifier: Apache-2.0
#include "conformance/report/archive.hpp"

#include <memory>

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include "core/common/printable.hpp"

namespace hbf::conformance {
namespace {

constexpr size_t most_file = size_t{64} << 20, most_total = size_t{256} << 20, most_files = 10'000;

using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;
using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;

std::string why(archive *handle) {
    const char *text = archive_error_string(handle);
    return text ? text : "no reason given";
}

la_ssize_t append(archive *, void *out, const void *bytes, size_t size) {
    static_cast<std::string *>(out)->append(static_cast<const char *>(bytes), size);
    return static_cast<la_ssize_t>(size);
}

bool plain(std::string_view name) {
    if (name.empty() || name.size() > 250 || name.front() == '/') return false;
    for (size_t at = 0; at <= name.size();) {
        const size_t end = std::min(name.find('/', at), name.size());
        const std::string_view part = name.substr(at, end - at);
        if (part.empty() || part == "." || part == "..") return false;
        at = end + 1;
    }
    return true;
}

} // namespace

tl::expected<std::string, std::string> pack(const std::string &folder, const Files &files, int64_t seconds) {
    std::string out;
    const Writer writer(archive_write_new(), archive_write_free);
    archive *handle = writer.get();
    if (!handle) return tl::unexpected(std::string("no memory for an archive"));
    const bool ready = archive_write_add_filter_gzip(handle) == ARCHIVE_OK &&
                       archive_write_set_filter_option(handle, "gzip", "timestamp", nullptr) == ARCHIVE_OK &&
                       archive_write_set_format_ustar(handle) == ARCHIVE_OK &&
                       archive_write_set_bytes_in_last_block(handle, 1) == ARCHIVE_OK &&
                       archive_write_open(handle, &out, nullptr, append, nullptr) == ARCHIVE_OK;
    if (!ready) return tl::unexpected(why(handle));
    for (const auto &[name, content] : files) {
        const Entry entry(archive_entry_new(), archive_entry_free);
        archive_entry_set_pathname(entry.get(), (folder + "/" + name).c_str());
        archive_entry_set_size(entry.get(), static_cast<la_int64_t>(content.size()));
        archive_entry_set_filetype(entry.get(), AE_IFREG);
        archive_entry_set_perm(entry.get(), 0644);
        archive_entry_set_mtime(entry.get(), seconds, 0);
        if (archive_write_header(handle, entry.get()) != ARCHIVE_OK ||
            archive_write_data(handle, content.data(), content.size()) != static_cast<la_ssize_t>(content.size()))
            return tl::unexpected(fmt::format("{}: {}", name, why(handle)));
    }
    if (archive_write_close(handle) != ARCHIVE_OK) return tl::unexpected(why(handle));
    return out;
}

tl::expected<Unpacked, std::string> unpack(const std::filesystem::path &file) {
    const auto wrong = [&](const std::string &what) {
        return tl::unexpected(fmt::format("{}: {}", printable(file.string()), what));
    };
    const Reader reader(archive_read_new(), archive_read_free);
    archive *handle = reader.get();
    if (!handle) return wrong("no memory to read it");
    archive_read_support_filter_gzip(handle);
    archive_read_support_format_tar(handle);
    if (archive_read_open_filename(handle, file.c_str(), 65536) != ARCHIVE_OK) return wrong(why(handle));
    Unpacked out;
    size_t total = 0;
    archive_entry *entry = nullptr;
    for (;;) {
        const int next = archive_read_next_header(handle, &entry);
        if (next == ARCHIVE_EOF) break;
        if (next != ARCHIVE_OK) return wrong("it is damaged or cut off: " + why(handle));
        const char *path = archive_entry_pathname(entry);
        const std::string name = path ? path : "";
        const size_t slash = name.find('/');
        if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) || archive_entry_symlink(entry))
            return wrong(fmt::format("'{}' is no plain file", printable(name)));
        if (!plain(name) || slash == std::string::npos)
            return wrong(fmt::format("'{}' is no name in a package", printable(name)));
        if (out.files.empty()) out.folder = name.substr(0, slash);
        if (name.substr(0, slash) != out.folder)
            return wrong(fmt::format("'{}' is outside '{}'", printable(name), printable(out.folder)));
        if (archive_entry_size(entry) < 0 || static_cast<uint64_t>(archive_entry_size(entry)) > most_file ||
            (total += static_cast<size_t>(archive_entry_size(entry))) > most_total || out.files.size() >= most_files)
            return wrong("it holds more than a package may (64 MiB a file, 256 MiB and 10,000 files in all)");
        std::string content(static_cast<size_t>(archive_entry_size(entry)), '\0');
        if (archive_read_data(handle, content.data(), content.size()) != static_cast<la_ssize_t>(content.size()))
            return wrong(fmt::format("'{}' is cut off: {}", printable(name), why(handle)));
        if (!out.files.emplace(name.substr(slash + 1), std::move(content)).second)
            return wrong(fmt::format("'{}' is there twice", printable(name)));
    }
    if (out.files.empty()) return wrong("there is nothing in it");
    return out;
}

} // namespace hbf::conformance
