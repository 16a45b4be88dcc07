// SPDX-License-Identifier: Apache-2.0
// What a completed copy wrote is there for a third party: another device that knows the memory by its address alone, and
// reads it by an engine of its own, at once.
#include <array>

#include "conformance/suite/coherence/peer.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

constexpr uint64_t size = 65536;

struct Reader {
    std::string name;
    std::unique_ptr<End> end;
};

// Its first tier that the CPU reaches: where what it has read is looked at.
bool add_reader(std::vector<Reader> &readers, std::string name, Instance &device) {
    constexpr uint32_t wanted = need::register_host | need::cpu_tier;
    if ((device.capabilities() & wanted) != wanted) return false;
    readers.push_back({std::move(name), std::make_unique<End>(device, device.cpu_tier(), size)});
    return true;
}

void one_generation(Context &context, End &shared, End &source, std::vector<Reader> &readers, Queue &queue, Random &random,
                    uint64_t generation) {
    std::vector<std::byte> bytes(size);
    put_generation(bytes.data(), size, generation, 0);
    source.put(0, bytes);
    const uint64_t begin = random.below(size), length = random.between(1, size - begin);
    for (Reader &reader : readers) { // what it holds of the memory by now is old
        reader.end->copy_in(0, shared.region(), 0, size);
    }
    shared.device().must_run(queue, {copy_command(shared.region().region, 0, source.region().region, 0, size)});
    shared.to_window(begin, length);
    for (Reader &reader : readers) {
        reader.end->copy_in(begin, shared.region(), begin, length);
        bytes = reader.end->get(begin, length);
        expect_generation(
            context, shared.place(begin), look(bytes.data(), length, generation, begin), fault::visibility,
            fmt::format("{} bytes of {} as {} reads them after the copy has completed", length, shared.name(), reader.name));
    }
}

} // namespace

HBF_CASE("coherence.third_party.sees_completed_copies", {.rules = {"HBF-QUEUE-3"},
                                                         .kills = {"third_party_lags", "third_party_half"},
                                                         .needs = need::cpu_tier | need::third_party}) {
    Instance &device = context.device();
    const std::unique_ptr<Instance> second = context.subject().must_create();
    std::optional<Peer> peer;
    std::vector<Reader> readers; // gone before their devices
    add_reader(readers, "another instance", *second);
    if (!context.subject().options().peer.plugin_file.empty()) {
        peer.emplace(context);
        add_reader(readers, "the device of " + peer->name(), peer->device());
    }
    if (readers.empty()) context.not_observable("nobody else is there whose device can register memory (--peer NAME)");
    Random random(context.seed());
    uint64_t generation = 1, rounds = 0;
    for (const uint32_t tier : device.dma_tiers()) {
        if (!device.cpu_access(tier)) continue;
        End shared(device, tier, size), source(device, tier, size);
        Queue queue(device);
        for (const uint64_t end = rounds + context.scaled(50, 2000, 50000); rounds < end; ++rounds)
            one_generation(context, shared, source, readers, queue, random, ++generation);
    }
    for (const Reader &reader : readers) context.note(fmt::format("{} generations read by {}", rounds, reader.name));
}

} // namespace hbf::conformance
