// SPDX-License-Identifier: Apache-2.0
// Bytes that go from one device to another arrive as they were, whichever way they take: staged through memory of both, or
// by the engine of one of them, to which the other's memory was registered.
#include <array>
#include <cstring>

#include "conformance/suite/coherence/peer.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

constexpr uint64_t guard = 64, region_size = 512 * 1024;

struct Stretch {
    uint64_t from, to, size; // offsets in the two regions
};

void staged(End &from, End &to, const Stretch &what) {
    from.to_window(what.from, what.size);
    std::memcpy(at(to.window(), what.to), at(from.window(), what.from), what.size);
    to.from_window(what.to, what.size);
}
void by_source(End &from, End &to, const Stretch &what) {
    from.copy_out(to.window(), what.to, what.from, what.size);
    to.from_window(what.to, what.size);
}
void by_destination(End &from, End &to, const Stretch &what) {
    from.to_window(what.from, what.size);
    to.copy_in(what.to, from.window(), what.from, what.size);
}

struct Way {
    const char *name;
    void (*go)(End &from, End &to, const Stretch &what);
    bool (*open)(const End &from, const End &to);
};
constexpr std::array<Way, 3> ways = {{
    {"staged through memory of both", staged, [](const End &, const End &) { return true; }},
    {"by the source's engine", by_source, [](const End &from, const End &) { return from.can_register(); }},
    {"by the destination's engine", by_destination, [](const End &, const End &to) { return to.can_register(); }},
}};

// One generation from one to the other; what lies beside it in the destination stays of the one before.
void send(Context &context, End &from, End &to, const Way &way, const Stretch &what, uint64_t generation) {
    const uint64_t around = what.size + 2 * guard;
    std::vector<std::byte> bytes(around);
    put_generation(bytes.data(), what.size, generation, what.from);
    from.put(what.from, std::span(bytes).first(what.size));
    put_generation(bytes.data(), around, generation - 1, what.from - guard);
    to.put(what.to - guard, bytes);
    way.go(from, to, what);
    const std::string text =
        fmt::format("{} bytes from {} to {} of the other device, {}", what.size, from.name(), to.name(), way.name);
    bytes = to.get(what.to - guard, around);
    expect_generation(context, to.place(what.to), look(bytes.data() + guard, what.size, generation, what.from),
                      fault::wrong_value, text, fault::not_written);
    for (const uint64_t beside : {uint64_t{0}, guard + what.size})
        expect_generation(context, to.place(what.to - guard + beside),
                          look(bytes.data() + beside, guard, generation - 1, what.from - guard + beside), fault::guard,
                          text + ": beside them", fault::guard);
}

} // namespace

HBF_CASE("coherence.peer.copies_equal_staged",
         {.rules = {"HBF-DMA-2", "HBF-QUEUE-3"},
          .kills = {"peer_tail_lost", "registered_head_lost", "registered_late", "peer_rounds_up"},
          .needs = need::cpu_tier}) {
    Instance &device = context.device();
    Peer peer(context);
    if (!(peer.device().capabilities() & need::cpu_tier))
        context.not_observable("no tier of the second device has both CPU and DMA access");
    Random random(context.seed());
    std::array<uint64_t, ways.size()> rounds{};
    uint64_t generation = 1;
    for (const uint32_t own : device.dma_tiers()) {
        for (const uint32_t others : peer.device().dma_tiers()) {
            End here(device, own, region_size), there(peer.device(), others, region_size);
            for (const auto &[from, to] : {std::pair{&here, &there}, {&there, &here}}) {
                for (size_t way = 0; way < ways.size(); ++way) {
                    if (!ways[way].open(*from, *to)) continue;
                    for (const uint64_t size :
                         {uint64_t{1}, uint64_t{4095}, uint64_t{65536}, random.between(65537, 300000)}) {
                        const auto place = [&] { return random.between(guard, region_size - size - guard); };
                        send(context, *from, *to, ways[way], {place(), place(), size}, ++generation);
                        ++rounds[way];
                    }
                }
            }
        }
    }
    for (size_t way = 0; way < ways.size(); ++way)
        context.note(fmt::format("with {}: {} copies {}", peer.name(), rounds[way], ways[way].name));
}

} // namespace hbf::conformance
