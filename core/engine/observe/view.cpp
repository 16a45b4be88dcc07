// SPDX-License-Identifier: Apache-2.0
#include "core/engine/observe/view.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/common/printable.hpp"
#include "core/engine/observe/guarded.hpp"

namespace hbf::kv::observe {
namespace {

namespace fs = std::filesystem;

std::optional<uint32_t> number_of(const std::string &text) {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return number;
}

fs::path fd_path(const PageFile &file, const std::string &proc) {
    return fs::path(proc) / std::to_string(file.pid) / "fd" / std::to_string(file.fd);
}

hbf::Result<> sound(const Header &header, uint64_t size, const std::string &where) {
    const auto bad = [&](const std::string &why) -> hbf::Result<> {
        return tl::unexpected(Error{Code::invalid, fmt::format("{}: {}", where, why)});
    };
    if (std::memcmp(header.magic, page_magic, sizeof page_magic) != 0) return bad("no page of hbf, or not yet one");
    if (header.version != page_version)
        return bad(fmt::format("a page of version {}, this hbf reads version {}: use the hbf of that engine", header.version,
                               page_version));
    if (header.header_size != sizeof(Header) || header.page_size != size ||
        uint64_t{header.block_room} * sizeof(BlockRow) != size - sizeof(Header))
        return bad("its sizes do not agree");
    return {};
}

} // namespace

std::string text_of(const char *text, size_t room) {
    return printable(std::string(text, ::strnlen(text, room)));
}

Process look_at(uint32_t pid, const std::string &proc) {
    Process out;
    std::ifstream file(fs::path(proc) / std::to_string(pid) / "stat");
    std::string line;
    std::getline(file, line);
    // "PID (program) S ...": the program's name may hold anything.
    const auto open = line.find('('), close = line.rfind(')');
    if (open == std::string::npos || close == std::string::npos || close + 2 >= line.size()) {
        out.state = '-';
        return out;
    }
    out.program = printable(line.substr(open + 1, close - open - 1));
    out.state = line[close + 2];
    return out;
}

std::vector<PageFile> find_pages_of(uint32_t pid, const std::string &proc) {
    std::vector<PageFile> out;
    std::error_code error;
    const fs::path fds = fs::path(proc) / std::to_string(pid) / "fd";
    for (fs::directory_iterator at(fds, error), end; !error && at != end; at.increment(error)) {
        std::error_code unreadable;
        const auto target = fs::read_symlink(at->path(), unreadable);
        const auto fd = number_of(at->path().filename().string());
        if (unreadable || !fd || target.string() != fmt::format("/memfd:{} (deleted)", page_file)) continue;
        out.push_back({pid, static_cast<int>(*fd), look_at(pid, proc).program});
    }
    std::sort(out.begin(), out.end(), [](const PageFile &a, const PageFile &b) { return a.fd < b.fd; });
    return out;
}

std::vector<PageFile> find_pages(const std::string &proc) {
    std::vector<uint32_t> pids;
    std::error_code error;
    for (fs::directory_iterator at(proc, error), end; !error && at != end; at.increment(error)) {
        if (const auto pid = number_of(at->path().filename().string())) pids.push_back(*pid);
    }
    std::sort(pids.begin(), pids.end());
    std::vector<PageFile> out;
    for (const uint32_t pid : pids) {
        for (PageFile &file : find_pages_of(pid, proc)) out.push_back(std::move(file));
    }
    return out;
}

hbf::Result<View> View::open(const PageFile &file, const std::string &proc) {
    const std::string where = fd_path(file, proc).string();
    const int fd = ::open(where.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        const Code code = errno == EACCES || errno == EPERM ? Code::permission : Code::unavailable;
        return tl::unexpected(Error{code, fmt::format("{}: {}", where, std::strerror(errno))});
    }
    struct stat about{};
    const bool known = ::fstat(fd, &about) == 0;
    const auto size = known ? static_cast<uint64_t>(about.st_size) : 0;
    const int seals = ::fcntl(fd, F_GET_SEALS);
    const bool fixed = seals >= 0 && (seals & F_SEAL_SHRINK) != 0;
    void *at = MAP_FAILED;
    if (fixed && size >= sizeof(Header)) at = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    ::close(fd);
    if (at == MAP_FAILED) {
        return tl::unexpected(
            Error{Code::invalid, fmt::format("{}: {}", where,
                                             !fixed                  ? "no page of hbf: it could shrink while it is read"
                                             : size < sizeof(Header) ? fmt::format("no page of hbf: {} bytes", size)
                                                                     : std::string("it cannot be mapped"))});
    }
    const auto *const header = static_cast<const Header *>(at);
    if (auto is = sound(*header, size, where); !is) {
        ::munmap(at, size);
        return tl::unexpected(std::move(is.error()));
    }
    // What was checked is what is used: the other process can write to it at any time.
    const auto room = static_cast<uint32_t>((size - sizeof(Header)) / sizeof(BlockRow));
    return View(header, size, file, room);
}

View::View(View &&other) noexcept
    : header_(std::exchange(other.header_, nullptr)), size_(other.size_), file_(std::move(other.file_)), room_(other.room_) {
}

View::~View() {
    // mmap gave it without const.
    if (header_) ::munmap(const_cast<Header *>(header_), size_); // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

std::string View::name() const {
    return text_of(header_->name, sizeof header_->name);
}
std::string View::policy() const {
    return text_of(header_->policy, sizeof header_->policy);
}

uint32_t View::block_end() const {
    return static_cast<uint32_t>(std::min<uint64_t>(header_->block_end.load(std::memory_order_acquire), room_));
}

std::optional<BlockValue> View::block(uint32_t id) const {
    if (id >= room_) return std::nullopt;
    return load(reinterpret_cast<const BlockRow *>(header_ + 1)[id]);
}

std::vector<Event> View::events(size_t most) const {
    std::vector<Event> out;
    const uint64_t written = header_->event_count.load(std::memory_order_acquire);
    for (uint64_t number = written; number-- > 0 && out.size() < most && written - number <= event_room;) {
        const auto value = load(header_->events[number % event_room]);
        if (!value) continue;
        Event event;
        static_cast<EventValue &>(event) = *value;
        event.number = number;
        out.push_back(event);
    }
    return out;
}

} // namespace hbf::kv::observe
