// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/memory/coherence.hpp"

#include <cstring>
#include <memory>

#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"
#include "plugins/nvidia/memory/blocks.hpp"

namespace hbf::nvidia {
namespace {

constexpr uint64_t size = 4096;
constexpr uint64_t limit_ns = 8'000'000'000;

struct Room {
    explicit Room(const Context &context)
        : device(context, size, 256), from(context, size, size, -1), to(context, size, size, -1) {}
    PlainBlock device;
    PinnedBlock from, to;
};

unsigned char byte_of(uint64_t at, unsigned round) {
    return static_cast<unsigned char>(1 + (at * 7 + at / 256 + round * 101) % 251);
}

void move(Context &context, uint64_t dst, uint64_t src) {
    if (context.copy(dst, src, size, limit_ns)) return;
    sdk::fail(HBF_DEVICE_LOST, fmt::format("{} answers, and does no work: what was tried at open did not end in 8 s; "
                                           "remedy: look at dmesg for Xid, then nvidia-smi -r, as root",
                                           context.facts.name));
}

void pass(Context &context, Room &room, unsigned round) {
    for (uint64_t i = 0; i < size; ++i) room.from.host()[i] = static_cast<std::byte>(byte_of(i, round));
    std::memset(room.to.host(), 0, size);
    move(context, room.device.at(), room.from.at());
    move(context, room.to.at(), room.device.at());
    for (uint64_t i = 0; i < size; ++i) {
        const auto seen = std::to_integer<unsigned char>(room.to.host()[i]);
        if (seen == byte_of(i, round)) continue;
        const bool old = round > 0 && seen == byte_of(i, round - 1);
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("{}: the driver says that device and CPU see the same in the host's memory, but it does not "
                              "hold: byte {} of {} came back as {:#04x} and not {:#04x}{}; remedy: look at dmesg for Xid, "
                              "then another release of the driver",
                              context.facts.name, i, size, seen, byte_of(i, round),
                              old ? ": what stood there before, though the CPU had written since" : ""));
    }
}

} // namespace

std::string try_host_memory(Context &context) {
    std::unique_ptr<Room> room;
    try {
        room = std::make_unique<Room>(context);
    } catch (const sdk::Failure &failure) {
        if (failure.status == HBF_DEVICE_LOST) throw;
        return failure.message;
    }
    try {
        for (unsigned round = 0; round < 3; ++round) pass(context, *room, round);
    } catch (...) {
        // What still runs may write there for as long as it likes: the memory is not given back.
        if (context.stuck()) leave(room.release());
        throw;
    }
    return "";
}

} // namespace hbf::nvidia
