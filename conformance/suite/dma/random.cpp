// SPDX-License-Identifier: Apache-2.0
// Any copies and fills, between all tiers, against models of every region: what no other case thought of.
#include <deque>

#include "conformance/suite/dma/pair.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t region_size = 96 << 10;
constexpr uint32_t batch = 8;

// Regions of every tier, two each, and operations on them one batch after another. Commands of a batch write apart from
// each other and read nothing that is written, since their order is not given.
class Game {
public:
    explicit Game(Context &context)
        : device_(context.device()), access_(device_), buffers_(device_), random_(context.seed()) {
        for (const uint32_t tier : device_.dma_tiers())
            for (const char *which : {"first", "second"})
                add(tier, fmt::format("the {} region in {}", which, device_.tier(tier).name), device_.tier(tier).name);
        if (device_.capabilities() & need::register_host) add(HBF_TIER_NONE, "registered memory", "");
        for (Model &model : models_) model.load(context.seed(), static_cast<uint32_t>(&model - &models_.front()));
    }

    // The region that is written to is drawn for a batch, and read by none of its commands but for ranges left alone.
    std::vector<hbf_command> next_batch(uint32_t count) {
        target_ = random_.below(models_.size());
        Model &target = models_[target_];
        const uint64_t share = target.size() / count;
        std::vector<hbf_command> out;
        for (uint32_t i = 0; i < count; ++i) {
            const uint64_t begin = i * share, size = length(share - 1), offset = begin + random_.below(share - size);
            ++operations_;
            if (random_.below(4) == 0) {
                out.push_back(target.fill(offset, size, random_(), 1u << random_.below(4)));
                continue;
            }
            const uint64_t other = (target_ + 1 + random_.below(models_.size() - 1)) % models_.size();
            const Model &source = models_[other];
            out.push_back(target.copy_from(offset, source, random_.below(source.size() - size), size));
        }
        return out;
    }

    void verify(Context &context, uint64_t round) {
        const std::string when = fmt::format("seed {:#x}, batch {}, operations {} to {}", context.seed(), round,
                                             operations_ - batch_size_, operations_ - 1);
        models_[target_].verify(context, when);
        models_[target_].forget_writes();
        if (round % 16 != 0) return; // the rest changes only by a fault
        for (Model &model : models_) model.verify(context, when);
    }

    void play(Context &context, uint64_t rounds) {
        batch_size_ = commands_of(device_, batch);
        const Queue queue(device_, 0, batch_size_);
        for (uint64_t round = 1; round <= rounds; ++round) {
            run_batches(device_, queue, next_batch(batch_size_), batch_size_);
            verify(context, round);
        }
        for (Model &model : models_) model.verify(context, fmt::format("seed {:#x}, at the end", context.seed()));
        context.note(fmt::format("{} operations on {} regions", operations_, models_.size()));
    }

private:
    void add(uint32_t tier, std::string name, std::string tier_name) {
        regions_.push_back(buffers_.make(tier, region_size + models_.size() * 1000 + 1));
        models_.emplace_back(access_, regions_.back(), std::move(name), std::move(tier_name));
    }

    // Short, around lines, or anything.
    uint64_t length(uint64_t most) {
        const uint64_t choice = random_.below(3);
        if (choice == 0) return random_.between(1, 16);
        if (choice == 1) return std::min(most, random_.between(1, 16) * 64 + random_.below(3) - 1);
        return random_.between(1, most);
    }

    Instance &device_;
    ByteAccess access_;
    Buffers buffers_;
    Random random_;
    std::deque<hbf_region_info> regions_; // stay where they are
    std::deque<Model> models_;
    uint64_t target_ = 0, operations_ = 0;
    uint32_t batch_size_ = 1;
};

HBF_CASE("dma.copy.random_ranges_against_model",
         {.rules = {"HBF-DMA-2", "HBF-QUEUE-2"},
          .kills = {"m01_flip_bit_nth_copy", "m11_address_bit_ignored", "m13_offset_off_by_one", "a100_address_bit_ignored",
                    "a100_reads_stale_lines", "cuda_coherence_lies", "hip_coherence_lies", "hip_device_lost",
                    "mi300x_copy_lost", "mlu370_host_function_early"},
          .needs = need::cpu_tier,
          .masked = true}) {
    Game(context).play(context, context.scaled(150, 5000, 50000));
}

} // namespace
} // namespace hbf::conformance
