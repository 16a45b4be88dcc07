// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/calls/calls.hpp"

#include <cstdlib>

#include <fcntl.h>
#include <unistd.h>

namespace hbf::emulated {

Calls::Calls(const char *library, std::span<const char *const> names, size_t supported)
    : library_(library), names_(names), supported_(supported), counts_(new std::atomic<uint64_t>[names.size()]()) {}

std::string Calls::text() const {
    std::string text;
    for (size_t i = 0; i < names_.size(); ++i)
        if (const uint64_t count = counted(i))
            text += std::string(library_) + ' ' + names_[i] + (i < supported_ ? " called " : " unsupported ") +
                    std::to_string(count) + '\n';
    return text;
}

Calls::~Calls() {
    const char *const file = std::getenv("HBF_EMULATE_COUNTS");
    if (!file || !*file) return;
    const std::string lines = text();
    if (lines.empty()) return;
    const int fd = open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    // One write, so that the lines of processes that end together do not mix.
    if (fd < 0 || write(fd, lines.data(), lines.size()) != static_cast<ssize_t>(lines.size())) {
        const std::string complaint = "hbf: HBF_EMULATE_COUNTS: cannot write to " + std::string(file) + '\n';
        [[maybe_unused]] const ssize_t told = write(STDERR_FILENO, complaint.data(), complaint.size());
    }
    if (fd >= 0) close(fd);
}

} // namespace hbf::emulated
