// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/memory/truth_probe.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "plugins/amd/aside.hpp"
#include "plugins/amd/memory/blocks.hpp"
#include "plugins/amd/on_device.hpp"

namespace hbf::amd {
namespace {

constexpr uint64_t size = 128 * 1024;
constexpr std::chrono::milliseconds patience{5000};
constexpr unsigned char canary = 0xc5; // what lies there before: neither zero nor what is written

// A word for each place, different in each round.
uint64_t word(uint64_t index, uint64_t round) {
    return (index + 1) * 0x9e3779b97f4a7c15u ^ (round * 0xd1b54a32d192ed03u);
}

// Both devices' streams, a block on each, and one of the host that carries the truth.
class Probe {
public:
    Probe(int device, int other)
        : here_(device), there_(other), local_(device, size, CoherenceClass::coarse),
          remote_(other, size, CoherenceClass::coarse), host_(device, size, CoherenceClass::fine) {}

    // What is in the other's memory by its own word, after `write` moved round's words there; "" if it is right.
    template <class Move>
    std::string writes(uint64_t round, const char *how, const Move &move) {
        put(there_, remote_, [](uint64_t) { return uint64_t{0x0101010101010101u} * canary; });
        put(here_, local_, [round](uint64_t i) { return word(i, round); });
        move(here_, remote_, local_);
        wait(here_, how);
        return compare(there_, remote_, round, fmt::format("what a {} writes there", how));
    }
    template <class Move>
    std::string reads(uint64_t round, const char *how, const Move &move) {
        put(there_, remote_, [round](uint64_t i) { return word(i, round); });
        put(here_, local_, [](uint64_t) { return uint64_t{0x0101010101010101u} * canary; });
        move(here_, local_, remote_);
        wait(here_, how);
        return compare(here_, local_, round, fmt::format("what a {} reads there", how));
    }

    static void copy(const Aside &on, const Block &to, const Block &from) {
        const OnDevice current(on.device());
        check(library().hip.MemcpyAsync(to.at(), from.at(), size, flag::memcpy_default, on.stream()),
              "hipMemcpyAsync of the probe");
    }

private:
    template <class Word>
    void put(const Aside &on, const Block &to, const Word &words) {
        for (uint64_t i = 0; i < size / 8; ++i) {
            const uint64_t value = words(i);
            std::memcpy(host_.at() + 8 * i, &value, sizeof value);
        }
        copy(on, to, host_);
        wait(on, "copy from the host");
    }
    static void wait(const Aside &on, const char *how) {
        if (!on.finish(patience))
            sdk::fail(HBF_TIMEOUT, fmt::format("a {} did not end within {} s", how, patience.count() / 1000));
    }
    std::string compare(const Aside &on, const Block &from, uint64_t round, const std::string &what) {
        std::memset(host_.at(), 0, size);
        copy(on, host_, from);
        wait(on, "copy to the host");
        for (uint64_t i = 0; i < size / 8; ++i) {
            uint64_t found = 0;
            std::memcpy(&found, host_.at() + 8 * i, sizeof found);
            if (found == word(i, round)) continue;
            const bool old = found == uint64_t{0x0101010101010101u} * canary;
            return fmt::format("{} is wrong at byte {}: {:#018x} instead of {:#018x}{}", what, 8 * i, found, word(i, round),
                               old ? ", as it was before: it went nowhere" : "");
        }
        return {};
    }

    Aside here_, there_;
    DeviceBlock local_, remote_;
    HostBlock host_;
};

// The project's kernel "copy/1" over the whole of both blocks.
class CopyKernel {
public:
    explicit CopyKernel(stream::KernelTable &table) {
        hbf_kernel_info info{};
        table.find("copy/1", info);
        hbf_kernel_buffer buffers[2] = {{1, 0, size, HBF_KERNEL_READS, 0}, {2, 0, size, HBF_KERNEL_WRITES, 0}};
        hbf_launch launch{};
        launch.kernel = info.kernel;
        launch.buffers = buffers, launch.buffer_count = 2;
        launch.arguments = &bytes_, launch.arguments_size = sizeof bytes_;
        std::fill_n(launch.groups, 3, 1u), std::fill_n(launch.group_size, 3, 1u);
        known_ = &table.check(launch);
    }
    void operator()(const Aside &on, const Block &to, const Block &from) const {
        void *addresses[2] = {from.on_device(), to.on_device()};
        uint64_t offset = 0, bytes = bytes_;
        void *parameters[] = {&addresses[0], &offset, &addresses[1], &offset, &bytes};
        const unsigned items = std::min(known_->loaded.max_group_size, 64u);
        const OnDevice current(on.device());
        check(library().hip.ModuleLaunchKernel(static_cast<Function>(known_->loaded.function), 16, 1, 1, items, 1, 1, 0,
                                               on.stream(), parameters, nullptr),
              "hipModuleLaunchKernel of the probe");
    }

private:
    uint64_t bytes_ = size;
    const stream::KernelTable::Known *known_;
};

std::string by_kernel(Probe &probe, stream::KernelTable *kernels) {
    if (!kernels) return "it runs no kernels";
    const CopyKernel kernel(*kernels);
    const std::string stored = probe.writes(3, "kernel", kernel);
    return stored.empty() ? probe.reads(4, "kernel", kernel) : stored;
}

uint64_t free_of(int device) {
    const OnDevice current(device);
    size_t free = 0, total = 0;
    check(library().hip.MemGetInfo(&free, &total), "hipMemGetInfo of the peer");
    return free;
}

} // namespace

PeerTruth probe_peer(int device, int other, stream::KernelTable *kernels) {
    PeerTruth out;
    auto probe = std::make_unique<Probe>(device, other);
    try {
        out.copies = probe->writes(1, "copy", Probe::copy);
        if (out.copies.empty()) out.copies = probe->reads(2, "copy", Probe::copy);
        try {
            out.kernels = out.copies.empty() ? by_kernel(*probe, kernels) : out.copies;
        } catch (const sdk::Failure &failure) {
            if (failure.status == HBF_TIMEOUT || failure.status == HBF_DEVICE_LOST) throw;
            out.kernels = failure.message; // copies stand for themselves
        }
    } catch (const sdk::Failure &failure) {
        if (failure.status == HBF_TIMEOUT) (void)probe.release(); // still in use: freeing would wait for ever
        throw;
    }
    out.free = free_of(other);
    return out;
}

} // namespace hbf::amd
