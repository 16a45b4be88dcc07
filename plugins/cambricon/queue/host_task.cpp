// SPDX-License-Identifier: Apache-2.0
#include "plugins/cambricon/queue/host_task.hpp"

#include <algorithm>
#include <cstring>

namespace hbf::cambricon {
namespace {

// The pattern once, then twice as much each time.
void fill_with(std::byte *to, uint64_t size, uint64_t pattern, uint64_t width) noexcept {
    std::memcpy(to, &pattern, std::min(width, size)); // little-endian, as the platform
    for (uint64_t done = width; done < size; done *= 2) std::memcpy(to + done, to, std::min(done, size - done));
}

} // namespace

void HostTask::run(void *task) noexcept {
    HostTask &self = *static_cast<HostTask *>(task);
    const uint64_t bytes = std::min(self.piece, self.size - self.next);
    switch (self.kind) {
    case Kind::copy:
        std::memcpy(self.to + self.next, self.from + self.next, bytes);
        break;
    case Kind::load:
        std::memcpy(self.to, self.from + self.next, bytes);
        break;
    case Kind::store:
        std::memcpy(self.to + self.next, self.from, bytes);
        break;
    case Kind::fill: // pieces are multiples of the width
        fill_with(self.to + self.next, bytes, self.pattern, self.width);
        break;
    }
    self.next += self.step;
}

} // namespace hbf::cambricon
