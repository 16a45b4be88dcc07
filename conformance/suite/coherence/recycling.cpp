// SPDX-License-Identifier: Apache-2.0
// Frames that come and go: a granule's old place is poisoned, freed and given out again, and nobody who holds the new one
// ever meets poison, another granule or an older generation.
#include <thread>

#include "conformance/measure/clock.hpp"
#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/coherence/frames.hpp"
#include "conformance/suite/coherence/litmus_run.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;
using Over = std::atomic<bool>;

// A granule in a region of its own, replaced at each move.
struct Mobile {
    uint64_t owner = 0, version = 1;
    Leases leases;
    std::array<hbf_region_info, Leases::most_frames> infos{};
    uint32_t now = 0;
};

class Recycler {
public:
    Recycler(const Context &context, const Instance &device, std::vector<uint32_t> tiers, uint64_t size)
        : device_(device), tiers_(std::move(tiers)), size_(size), queue_(device, 0, batch_room(device, 5)),
          random_(context.seed()) {
        for (Mobile &mobile : mobiles) {
            mobile.owner = 1 + static_cast<uint64_t>(&mobile - mobiles.data());
            mobile.infos[0] = device.must_alloc(tier(), size, 64);
            litmus::write_granule(bytes(mobile, 0), {mobile.owner, mobile.version});
            mobile.leases.publish(0);
        }
    }
    ~Recycler() {
        for (const Mobile &mobile : mobiles)
            if (mobile.infos[mobile.now].region) static_cast<void>(device_.free(mobile.infos[mobile.now].region));
    }
    Recycler(const Recycler &) = delete;
    Recycler &operator=(const Recycler &) = delete;

    std::span<std::byte> bytes(const Mobile &mobile, uint32_t frame) const { return {at(mobile.infos[frame], 0), size_}; }

    // Into a region allocated for it, the old one poisoned and freed once nobody holds it.
    void move(Mobile &mobile) {
        mobile.leases.let_use(2); // one of them began after all that happened so far
        const uint32_t from = mobile.now, to = (from + 1) % Leases::most_frames;
        mobile.infos[to] = device_.must_alloc(tier(), size_, 64);
        device_.must_run(queue_, move_commands(device_, mobile.infos[to], mobile.infos[from], size_));
        mobile.leases.publish(to);
        mobile.leases.drain(from);
        mobile.now = to;
        litmus::fill_words(bytes(mobile, from), poison);
        if (software(device_, mobile.infos[from].tier)) device_.must_run(queue_, {flush_all(mobile.infos[from])});
        device_.must_free(mobile.infos[from].region);
        mobile.infos[from] = {};
    }

    std::array<Mobile, 3> mobiles;

private:
    uint32_t tier() { return tiers_[random_.below(tiers_.size())]; }

    const Instance &device_;
    const std::vector<uint32_t> tiers_;
    const uint64_t size_;
    Queue queue_;
    Random random_;
};

// Blocks in small frames of every tier that commands reach, moved about by a script; each tells its generation, and every
// frame keeps what was there before until something is moved in.
class Blocks {
public:
    static constexpr uint64_t size = 4096, count = 24, frames_of_tier = 24;

    Blocks(Context &context, const Instance &device)
        : context_(context), device_(device), regions_(device), access_(device), queue_(device, 0, batch_room(device, 5)),
          random_(context.seed()), bytes_(size) {
        for (const uint32_t tier : device.dma_tiers()) {
            const hbf_region_info info = regions_.make(tier, size * frames_of_tier);
            for (uint64_t i = 0; i < frames_of_tier; ++i) frames_.push_back({info, i * size});
        }
        for (uint64_t block = 0; block < count; ++block) {
            blocks_.push_back({block, 0});
            write(blocks_.back());
        }
        for (size_t frame = count; frame < frames_.size(); ++frame) free_.push_back(frame);
    }

    // One block to a free frame; now and then it is read, and gets a new generation.
    void step() {
        Block &block = blocks_[random_.below(count)];
        const size_t choice = random_.below(free_.size()), from = block.frame, to = free_[choice];
        const Frame &source = frames_[from], &target = frames_[to];
        std::vector<hbf_command> commands = {
            copy_command(target.info.region, target.offset, source.info.region, source.offset, size)};
        device_.must_run(queue_, commands);
        free_[choice] = from;
        block.frame = to;
        if (random_.below(4) != 0) return;
        check(block);
        if (random_.below(2)) write(block);
    }
    void check_all() {
        for (const Block &block : blocks_) check(block);
    }

private:
    struct Frame {
        hbf_region_info info;
        uint64_t offset;
    };
    struct Block {
        size_t frame;
        uint64_t generation;
    };
    uint64_t owner(const Block &block) const { return 1 + static_cast<uint64_t>(&block - blocks_.data()); }

    void write(Block &block) {
        litmus::write_granule(bytes_, {owner(block), ++block.generation});
        access_.write(frames_[block.frame].info, frames_[block.frame].offset, bytes_);
    }
    void check(const Block &block) {
        const Frame &frame = frames_[block.frame];
        access_.read(frame.info, frame.offset, bytes_);
        const Place place{&device_, &frame.info, frame.offset};
        const litmus::Reading reading = litmus::read_granule(bytes_);
        const bool older = reading.kind == litmus::Reading::whole && reading.first.owner == owner(block) &&
                           reading.first.version < block.generation;
        context_.count_check();
        if (older)
            fail_at(fault::stale, place,
                    fmt::format("block {} came with generation {} after a migration, {} had been written", owner(block),
                                reading.first.version, block.generation));
        const uint64_t version = expect_whole(context_, place, reading, owner(block), "a block after a migration");
        context_.check(version == block.generation, "block {} came with generation {}, not written yet", owner(block),
                       version);
    }

    Context &context_;
    const Instance &device_;
    Regions regions_;
    ByteAccess access_;
    Queue queue_;
    Random random_;
    alignas(8) std::vector<std::byte> bytes_;
    std::vector<Frame> frames_;
    std::vector<Block> blocks_;
    std::vector<size_t> free_;
};

// The control of stale mappings: a reader that takes no lease meets poison.
Sightings read_without_lease(const Context &context) {
    Sightings out{"M4' (read without a lease)"};
    std::array<std::vector<std::byte>, 2> frames{std::vector<std::byte>(litmus::granule_size),
                                                 std::vector<std::byte>(litmus::granule_size)};
    const auto begin = measure::Clock::now();
    while (!out.enough() && measure::seconds_between(begin, measure::Clock::now()) < patience_s(context)) {
        std::atomic<uint32_t> current{0};
        litmus::write_granule(frames[0], {1, 1});
        run_beside(
            [&](Over &over) {
                const auto start = measure::Clock::now();
                while (!over && measure::seconds_between(start, measure::Clock::now()) < 0.02) {
                    const uint32_t from = current.load();
                    litmus::copy_words(frames[1 - from], frames[from]);
                    current.store(1 - from);
                    litmus::fill_words(frames[from], poison);
                }
            },
            [&](Over &over) {
                while (!over && !out.enough())
                    out.count(litmus::read_granule(frames[current.load()]).kind != litmus::Reading::whole);
            });
    }
    return out;
}

} // namespace

HBF_CASE("coherence.migration.stale_mapping", {.rules = {"HBF-TIER-6", "HBF-QUEUE-3"},
                                               .kills = {"late_scrub"},
                                               .needs = need::cpu_tier | need::coherence,
                                               .budget_s = 0.25,
                                               .limit_s = 40}) {
    const Instance &device = context.device();
    const std::vector<uint32_t> tiers = mapped_tiers(device);
    if (tiers.empty()) context.not_supported("no tier is in a coherence domain with the CPU");
    need_agents(context, 2, "a migration beside a reader of the granule");
    Recycler recycler(context, device, tiers, 16384);
    uint64_t moves = 0, reads = 0;
    run_beside(
        [&](Over &over) {
            while (!over && (context.time_left() || moves < 30))
                recycler.move(recycler.mobiles[moves++ % recycler.mobiles.size()]);
        },
        [&](Over &over) {
            Random random(context.seed() + 1);
            for (; !over; ++reads) {
                Mobile &mobile = recycler.mobiles[random.below(recycler.mobiles.size())];
                const uint32_t frame = mobile.leases.take();
                const hbf_region_info info = mobile.infos[frame];
                const litmus::Reading reading = litmus::read_granule(recycler.bytes(mobile, frame));
                mobile.leases.give(frame); // before a verdict: the mover waits for it
                expect_whole(context, {&device, &info, 0}, reading, mobile.owner,
                             "a granule read under a lease while old frames are freed and given out again");
            }
        });
    context.note(fmt::format("{} migrations into new regions, {} reads", moves, reads));
    require_seen(context, read_without_lease(context));
}

HBF_CASE("coherence.generation.no_stale_after_migration", {.rules = {"HBF-QUEUE-2", "HBF-DMA-2"},
                                                           .kills = {"m26_stale_generation", "last_line_lost"},
                                                           .needs = need::cpu_tier}) {
    Blocks blocks(context, context.device());
    const uint64_t moves = context.scaled(1500, 100'000, 1'000'000);
    for (uint64_t move = 0; move < moves; ++move) blocks.step();
    blocks.check_all();
    context.note(fmt::format("{} migrations of tagged blocks between all tiers", moves));
}

} // namespace hbf::conformance
