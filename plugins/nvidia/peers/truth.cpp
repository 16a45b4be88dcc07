// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "plugins/nvidia/errors.hpp"
#include "plugins/nvidia/memory/blocks.hpp"
#include "plugins/nvidia/peers/peers.hpp"

namespace hbf::nvidia {
namespace {

constexpr uint64_t size = 256 << 10, page = 4096; // enough pages that a lost one shows; each open waits for it
constexpr uint64_t limit_ns = 8'000'000'000;
constexpr unsigned char canary = 0xc5;

// Every word differs, and none is the canary's.
void pattern(std::byte *at, uint64_t salt) {
    for (uint64_t i = 0; i < size / 8; ++i) {
        const uint64_t word = (i * 0x9e3779b97f4a7c15u ^ salt) | 1u;
        std::memcpy(at + i * 8, &word, 8);
    }
}

// Memory of both sides, and pinned memory to look at what they hold.
struct Room {
    Room(Context &own, Context &peer)
        : theirs(own, peer.facts.device, bytes(own, peer.facts.device), bytes(own, peer.facts.device)),
          ours(own, own.facts.device, bytes(own, own.facts.device), bytes(own, own.facts.device)),
          wanted(own, size, page, -1), seen(own, size, page, -1) {}
    static uint64_t bytes(const Context &own, cuda::Device home) {
        return std::max(MappedBlock::granularity(own, home), size);
    }
    MappedBlock theirs, ours;
    PinnedBlock wanted, seen;
};

class Trial {
public:
    Trial(Context &own, Context &peer, Room &room) : own_(own), peer_(peer), room_(room) {}

    // The canary, by the peer's own engine.
    void prepare() {
        std::memset(room_.wanted.host(), canary, size);
        move(peer_, room_.theirs.at(), room_.wanted.at());
    }
    // A pattern of its own in a buffer, by that device's own engine.
    void put(Context &by, uint64_t at) {
        pattern(room_.wanted.host(), ++salt_);
        move(by, at, room_.wanted.at());
    }
    // "", or what is wrong with the bytes there, as that device's own engine reads them.
    std::string look(Context &by, uint64_t at) {
        std::memset(room_.seen.host(), 0, size);
        move(by, room_.seen.at(), at);
        const auto *const wanted = room_.wanted.host(), *const seen = room_.seen.host();
        const auto [a, b] = std::mismatch(wanted, wanted + size, seen);
        if (a == wanted + size) return "";
        const uint64_t offset = static_cast<uint64_t>(a - wanted);
        return fmt::format("byte {} of {} is {:#04x} and not {:#04x}{}", offset, size, std::to_integer<unsigned>(*b),
                           std::to_integer<unsigned>(*a),
                           std::to_integer<unsigned char>(*b) == canary ? ": what was there before, the write is lost" : "");
    }
    void move(Context &by, uint64_t dst, uint64_t src) {
        if (!by.copy(dst, src, size, limit_ns)) sdk::fail(HBF_TIMEOUT, "a copy did not end in 8 s");
    }
    void launch(const stream::LoadedKernel &kernel, uint64_t dst, uint64_t src) {
        const Current current(own_);
        const Driver &cuda = own_.cuda;
        cuda::Stream stream = nullptr;
        check(cuda, cuda.StreamCreate(&stream, cuda::stream_non_blocking), "cuStreamCreate");
        uint64_t zero = 0, bytes = size;
        void *parameters[] = {&src, &zero, &dst, &zero, &bytes};
        cuda::Result code = cuda.LaunchKernel(static_cast<cuda::Function>(kernel.function), 8, 1, 1,
                                              std::min(kernel.max_group_size, 256u), 1, 1, 0, stream, parameters, nullptr);
        const bool over = code != cuda::success || wait_for(cuda, stream, limit_ns, code);
        (void)cuda.StreamDestroy(stream);
        if (!over) {
            own_.give_up();
            sdk::fail(HBF_TIMEOUT, "a kernel did not end in 8 s");
        }
        check(cuda, code, "a kernel");
    }

private:
    Context &own_, &peer_;
    Room &room_;
    uint64_t salt_ = 0x5bf0'3635;
};

std::string try_copies(Context &own, Context &peer, Room &room) {
    Trial trial(own, peer, room);
    trial.prepare();
    trial.put(own, room.ours.at());
    trial.move(own, room.theirs.at(), room.ours.at());
    if (const std::string wrong = trial.look(peer, room.theirs.at()); !wrong.empty())
        return "a copy to it, read there: " + wrong;
    trial.put(peer, room.theirs.at());
    trial.move(own, room.ours.at(), room.theirs.at());
    if (const std::string wrong = trial.look(own, room.ours.at()); !wrong.empty())
        return "a copy from it, read here: " + wrong;
    return "";
}

std::string try_kernels(Context &own, Context &peer, Room &room, const stream::LoadedKernel &kernel) {
    Trial trial(own, peer, room);
    trial.prepare();
    trial.put(own, room.ours.at());
    trial.launch(kernel, room.theirs.at(), room.ours.at());
    if (const std::string wrong = trial.look(peer, room.theirs.at()); !wrong.empty())
        return "a kernel's stores to it, read there: " + wrong;
    trial.put(peer, room.theirs.at());
    trial.launch(kernel, room.ours.at(), room.theirs.at());
    if (const std::string wrong = trial.look(own, room.ours.at()); !wrong.empty())
        return "a kernel's loads from it, read here: " + wrong;
    return "";
}

} // namespace

Verdict try_peer(Context &own, Context &peer, stream::KernelLoader *loader) noexcept {
    Verdict out;
    std::unique_ptr<Room> room;
    try {
        room = std::make_unique<Room>(own, peer);
        out.why = try_copies(own, peer, *room);
        out.copies = out.why.empty();
        if (!out.copies) return out;
        if (!loader) {
            out.why = "no kernel to try it with";
            return out;
        }
        out.why = try_kernels(own, peer, *room, loader->load(*kernels::device::find("copy/1")));
        out.kernels = out.why.empty();
    } catch (const sdk::Failure &failure) {
        out.why = failure.message;
        // What still runs may write there for as long as it likes: the memory is not given back.
        out.stuck = failure.status == HBF_TIMEOUT;
        if (out.stuck) leave(room.release());
    } catch (...) {
        out = {};
        try {
            out.why = "no memory";
        } catch (...) { // then without words
        }
    }
    return out;
}

} // namespace hbf::nvidia
