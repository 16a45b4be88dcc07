// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/memory/truth.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plugins/level_zero/errors.hpp"

namespace hbf::level_zero {
namespace {

constexpr uint64_t granule = 65536, words = granule / sizeof(uint64_t);
constexpr uint32_t concurrent = ze::access_rw | ze::access_concurrent;

class Block {
public:
    using Allocate = ze::Result (*)(const Context &, void **);

    Block(const Context &context, const char *call, Allocate allocate) : context_(context) {
        check(allocate(context, &at), fmt::format("{} of the trial of host memory", call));
    }
    ~Block() {
        if (at) context_.ze.zeMemFree(context_.context.handle, at);
    }
    Block(const Block &) = delete;
    Block &operator=(const Block &) = delete;

    void *at = nullptr; // nullptr: it stays for good, for the device may use it yet

private:
    const Context &context_;
};

ze::Result of_device(const Context &context, void **out) {
    const ze::DeviceAllocDesc desc;
    return context.ze.zeMemAllocDevice(context.context.handle, &desc, granule, 64, context.device, out);
}

ze::Result of_host(const Context &context, void **out) {
    const ze::HostAllocDesc desc;
    return context.ze.zeMemAllocHost(context.context.handle, &desc, granule, 64, out);
}

ze::Result of_both(const Context &context, void **out) {
    const ze::DeviceAllocDesc device;
    const ze::HostAllocDesc host;
    return context.ze.zeMemAllocShared(context.context.handle, &device, &host, granule, 64, context.device, out);
}

// Where the first of `round`'s words did not arrive; `words`: all did.
uint64_t carried(Context &context, uint32_t group, Block &from, Block &by, Block &to, uint64_t round) {
    auto *const sent = static_cast<uint64_t *>(from.at), *const got = static_cast<uint64_t *>(to.at);
    const auto word = [round](uint64_t i) { return (round << 32 | i) * 0x9e3779b97f4a7c15; };
    for (uint64_t i = 0; i < words; ++i) sent[i] = word(i);
    bool runs = false;
    try {
        context.carry(group, {from.at, by.at, to.at}, granule, runs);
    } catch (...) {
        if (runs) from.at = by.at = to.at = nullptr;
        throw;
    }
    uint64_t same = 0;
    while (same < words && got[same] == word(same)) ++same;
    return same;
}

void prove(Context &context, bool copy_engine, const char *name, uint32_t claim, const char *call,
           Block::Allocate allocate) {
    Block from(context, call, allocate), by(context, "zeMemAllocDevice", of_device), to(context, call, allocate);
    for (const uint32_t group : {context.facts.compute_group, copy_engine ? context.facts.copy_group : no_group}) {
        if (group == no_group) continue;
        for (uint64_t round = 1; round <= 2; ++round)
            if (const uint64_t at = carried(context, group, from, by, to, round); at != words)
                sdk::fail(
                    HBF_UNAVAILABLE,
                    fmt::format("{}: its driver says that host and device may use {} memory side by side ({:#x}), and "
                                "what the CPU wrote did not come back from the device (byte {} of {}, time {}, command "
                                "queue group {}); remedy: another version of the driver or of the firmware",
                                context.facts.name, name, claim, at * sizeof(uint64_t), granule, round, group));
    }
}

} // namespace

void prove_host_memory(Context &context, bool copy_engine) {
    const DeviceFacts &facts = context.facts;
    if ((facts.host_access & concurrent) == concurrent)
        prove(context, copy_engine, "pinned", facts.host_access, "zeMemAllocHost", of_host);
    if ((facts.shared_access & concurrent) == concurrent)
        prove(context, copy_engine, "shared", facts.shared_access, "zeMemAllocShared", of_both);
}

} // namespace hbf::level_zero
