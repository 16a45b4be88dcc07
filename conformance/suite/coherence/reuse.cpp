// SPDX-License-Identifier: Apache-2.0
// Write after read: a source is reused from the moment its copy completed, by the CPU or by a later command of the queue,
// and what was copied is what it held before.
#include "conformance/suite/coherence/scene.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

constexpr uint64_t most = 2u << 20; // bytes: more than any executor moves inside submit

// Mostly granules, now and then much.
uint64_t some_size(Random &random) {
    return random.below(8) == 0 ? most / 2 + random.below(most / 2) : 4096 + random.below(65536);
}

struct Reuse {
    Reuse(Context &context, const Instance &on, uint32_t where)
        : device(on), regions(on), access(on), source(regions.make(where, most)), other(regions.make(where, most)),
          target(regions.make(observer_tier(on, where), most)), queue(on), random(context.seed() + where), bytes(most) {}

    void fill(const hbf_region_info &region, uint64_t size, uint64_t generation) {
        put_generation(bytes.data(), size, generation, 0);
        access.write(region, 0, {bytes.data(), size});
    }
    void expect_kept(Context &context, uint64_t size, uint64_t generation, std::string what) {
        const std::vector<std::byte> copied = access.read(target, 0, size);
        expect_generation(context, {&device, &target, 0}, look(copied.data(), size, generation, 0), fault::early_completion,
                          std::move(what));
    }

    const Instance &device;
    Regions regions;
    ByteAccess access;
    const hbf_region_info source, other, target;
    Queue queue;
    Random random;
    std::vector<std::byte> bytes;
};

// The tail first: a copy that still runs gets there last.
void overwrite(const hbf_region_info &region, uint64_t size, uint64_t generation) {
    constexpr uint64_t piece = 4096;
    for (uint64_t end = size; end > 0;) {
        const uint64_t begin = end > piece ? (end - 1) / piece * piece : 0;
        put_generation(at(region, begin), end - begin, generation, begin);
        end = begin;
    }
}

} // namespace

HBF_CASE("coherence.write_after_read.reuse_buffer",
         {.rules = {"HBF-QUEUE-2", "HBF-QUEUE-3"},
          .kills = {"m05_early_complete", "m24_ordered_reordered", "source_read_late"},
          .needs = need::cpu_tier | need::coherence}) {
    const Instance &device = context.device();
    const uint64_t rounds = context.scaled(24, 400, 5000);
    for (const uint32_t tier : mapped_tiers(device)) {
        Reuse set(context, device, tier);
        Sightings turned{"M5' (overwritten first, copied then)"};
        for (uint64_t round = 0; round < rounds; ++round) {
            const uint64_t size = some_size(set.random), generation = 3 * round + 2;
            // By the CPU, once the value completed. (The next generation of `source` is what a late reader would find.)
            set.fill(set.source, size, generation);
            set.fill(set.target, size, generation - 1);
            const uint64_t value =
                device.must_submit(set.queue, {copy_command(set.target.region, 0, set.source.region, 0, size)});
            device.must_complete(set.queue, value);
            overwrite(set.source, size, generation + 1);
            set.access.publish(set.source, 0, size);
            device.must_complete(set.queue, device.must_submit(set.queue, {})); // what still looks at the source has done so
            set.expect_kept(context, size, generation,
                            fmt::format("a source of {} bytes in {} overwritten by the CPU after its copy completed", size,
                                        device.tier(tier).name));
            // By the next value of the queue, submitted at once.
            set.fill(set.source, size, generation);
            set.fill(set.other, size, generation + 1);
            set.fill(set.target, size, generation - 1);
            device.must_submit(set.queue, {copy_command(set.target.region, 0, set.source.region, 0, size)});
            device.must_complete(
                set.queue, device.must_submit(set.queue, {copy_command(set.source.region, 0, set.other.region, 0, size)}));
            set.expect_kept(context, size, generation,
                            fmt::format("a source of {} bytes in {} overwritten by the queue's next value", size,
                                        device.tier(tier).name));
            // Program order turned round: this must show.
            if (turned.enough()) continue;
            overwrite(set.source, 4096, generation + 2);
            set.access.publish(set.source, 0, 4096);
            device.must_run(set.queue, {copy_command(set.target.region, 0, set.source.region, 0, 4096)});
            const std::vector<std::byte> copied = set.access.read(set.target, 0, 4096);
            turned.count(look(copied.data(), 4096, generation, 0).wrong > 0);
        }
        require_seen(context, turned);
        context.note(fmt::format("{}: {} rounds of up to {} bytes", device.tier(tier).name, 2 * rounds, most));
    }
}

} // namespace hbf::conformance
