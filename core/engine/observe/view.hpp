// SPDX-License-Identifier: Apache-2.0
// The page of another process, read only. Nothing here asks that process anything, so it may be stopped or stuck.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/observe/layout.hpp"
#include "hbf/status.hpp"

namespace hbf::kv::observe {

struct PageFile { // one of a process
    uint32_t pid = 0;
    int fd = 0;
    std::string program; // of the process
};

// Those that this user may see, by process, oldest first.
std::vector<PageFile> find_pages(const std::string &proc = "/proc");
std::vector<PageFile> find_pages_of(uint32_t pid, const std::string &proc = "/proc");

struct Event : EventValue {
    uint64_t number = 0;
};

struct Process {      // of /proc/PID
    char state = '?'; // R S D T (stopped) t (traced) Z, '-': it is gone
    std::string program;
};
Process look_at(uint32_t pid, const std::string &proc = "/proc");

class View {
public:
    // UNAVAILABLE: no such process or page. PERMISSION. INVALID: not a page of this version, or one that could shrink.
    static hbf::Result<View> open(const PageFile &file, const std::string &proc = "/proc");
    View(View &&other) noexcept;
    View &operator=(View &&) = delete;
    ~View();

    const Header &header() const { return *header_; }
    uint32_t pid() const { return file_.pid; }
    std::string name() const;
    std::string policy() const;
    uint32_t block_room() const { return room_; }
    uint32_t block_end() const; // numbers in use are below it
    uint64_t counter(Counter counter) const { return header_->counters[static_cast<size_t>(counter)]; }

    std::optional<BlockValue> block(uint32_t id) const; // empty: beyond the room, or stopped in the middle of being written
    // Newest first; those that are being written are left out.
    std::vector<Event> events(size_t most = event_room) const;

private:
    View(const Header *header, size_t size, const PageFile &file, uint32_t room)
        : header_(header), size_(size), file_(file), room_(room) {}

    const Header *header_;
    size_t size_;
    PageFile file_;
    uint32_t room_;
};

// A text of the page, which another process writes: ends at its room, holds nothing that a terminal would act on.
std::string text_of(const char *text, size_t room);

} // namespace hbf::kv::observe
