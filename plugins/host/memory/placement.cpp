// SPDX-License-Identifier: Apache-2.0
#include "memory/placement.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/page_kind.hpp"

namespace hbf::host {
namespace {

constexpr int most_nodes = 1024;
constexpr size_t bits = 8 * sizeof(unsigned long);

int bind(std::byte *address, uint64_t size, int node) {
    if (node < 0 || node >= most_nodes) return EINVAL;
    std::array<unsigned long, most_nodes / bits> mask{};
    mask[static_cast<size_t>(node) / bits] = 1ul << (static_cast<size_t>(node) % bits);
    // The kernel takes one off the number of bits.
    return syscall(SYS_mbind, address, size, MPOL_BIND, mask.data(), most_nodes + 1, 0) == 0 ? 0 : errno;
}

std::string say(const char *call, int node, int error) {
    return fmt::format("{} node {}: {}", call, node, std::strerror(error));
}

} // namespace

std::string bind_to_node(std::byte *address, uint64_t size, int node) {
    const int error = bind(address, size, node);
    return error == 0 ? std::string() : say("mbind to", node, error);
}

PagePlace check_node(std::byte *address, uint64_t size, int node) {
    constexpr size_t most = 512;
    std::array<void *, most> pages{};
    std::array<int, most> where{};
    const uint64_t page = base_page_size(), count = size / page;
    const size_t samples = static_cast<size_t>(std::min<uint64_t>(count, most));
    for (size_t i = 0; i < samples; ++i) {
        const uint64_t index = samples == 1 ? 0 : (count - 1) * i / (samples - 1);
        pages[i] = address + index * page;
    }
    PagePlace place;
    if (syscall(SYS_move_pages, 0, samples, pages.data(), nullptr, where.data(), 0) != 0) {
        place.why = fmt::format("move_pages: {}", std::strerror(errno));
        return place;
    }
    for (size_t i = 0; i < samples; ++i) {
        if (where[i] == node) continue;
        place.all_there = false;
        place.offset = static_cast<uint64_t>(static_cast<std::byte *>(pages[i]) - address);
        place.found = where[i];
        if (where[i] < 0) place.why = fmt::format("move_pages: {}", std::strerror(-where[i]));
        break;
    }
    place.known = place.all_there || place.found >= 0;
    return place;
}

BindProbe probe_node(int node) {
    const uint64_t size = base_page_size();
    void *mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return {false, false, std::strerror(errno)};
    auto *page = static_cast<std::byte *>(mapped);
    BindProbe probe;
    if (const int error = bind(page, size, node); error != 0) {
        probe.refused = error == ENOSYS || error == EPERM;
        probe.why = say("mbind to", node, error);
    } else {
        *page = std::byte{1};
        const PagePlace place = check_node(page, size, node);
        probe.works = place.known && place.all_there;
        probe.refused = !place.known;
        if (!place.known)
            probe.why = place.why;
        else if (!place.all_there)
            probe.why = fmt::format("a page bound to node {} came from node {}", node, place.found);
    }
    munmap(mapped, size);
    return probe;
}

} // namespace hbf::host
