// SPDX-License-Identifier: Apache-2.0
// Tagged blocks that migrate between frames which keep what was there before: what comes is of the latest generation.
#include "conformance/suite/coherence/frames.hpp"

namespace hbf::conformance {
namespace {

using namespace coherence;

// Blocks in small frames of every tier that commands reach, moved about by a script; each tells its generation, and every
// frame keeps what was there before until something is moved in.
class Blocks {
public:
    static constexpr uint64_t size = 4096, count = 24, frames_of_tier = 24;

    Blocks(Context &context, const Instance &device)
        : context_(context), device_(device), regions_(device), access_(device), queue_(device, 0, batch_room(device, 5)),
          random_(context.seed()), bytes_(size) {
        const std::vector<uint32_t> tiers = device.dma_tiers();
        const uint64_t frames = tiers.size() == 1 ? 2 * frames_of_tier : frames_of_tier; // more than there are blocks
        for (const uint32_t tier : tiers) {
            const hbf_region_info info = regions_.make(tier, size * frames);
            for (uint64_t i = 0; i < frames; ++i) frames_.push_back({info, i * size});
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
        expect_whole(context_, place, litmus::read_granule(bytes_), owner(block), "a block after a migration",
                     block.generation);
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

} // namespace

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
