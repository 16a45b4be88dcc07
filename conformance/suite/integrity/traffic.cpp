// SPDX-License-Identifier: Apache-2.0
// Random traffic between all tiers, several values under way on each queue, against a model that knows what each place
// holds.
#include <algorithm>
#include <cstring>
#include <vector>

#include "conformance/suite/integrity/pairs.hpp"

namespace hbf::conformance {
namespace {

using integrity::Arena;
using integrity::Datum;
using integrity::Pattern;

constexpr uint64_t granule = 64u << 10;

// What a place holds: the data of granule `content` of that generation. Its checksum is computed when it is looked at.
struct Slot {
    const hbf_region_info *region;
    uint64_t offset;
    uint64_t content = 0;
    uint32_t generation = 0;
};

class Traffic {
public:
    Traffic(Context &context, Arena &arena, uint32_t depth)
        : context_(context), device_(context.device()), arena_(arena), random_(context.seed()), seed_(data_seed(context)),
          queue_(device_, depth) {
        for (const auto &place : arena.places()) {
            for (const auto *region : {&place.source, &place.destination})
                for (uint64_t at = 0; at + granule <= place.bytes; at += granule) slots_.push_back({region, at});
        }
        for (auto &slot : slots_) renew(slot);
    }

    // Copies that follow one another without waiting: every second one takes what the one before brought.
    void burst(uint32_t values) {
        uint64_t last = 0;
        Slot *brought = nullptr;
        for (uint32_t i = 0; i < values; ++i) {
            auto &to = any();
            auto &from = brought && random_.below(2) ? *brought : any();
            if (&to == &from) continue;
            brought = &to;
            last = device_.must_submit(
                queue_, {copy_command(to.region->region, to.offset, from.region->region, from.offset, granule)});
            to.content = from.content;
            to.generation = from.generation;
        }
        if (last != 0) device_.must_complete(queue_, last);
    }
    void renew(Slot &slot) {
        slot.content = next_content_++;
        slot.generation = ++generation_;
        bytes_.resize(granule);
        generate(datum(slot), bytes_.data(), granule, address(slot));
        arena_.access().write(*slot.region, slot.offset, bytes_);
    }
    Slot &any() { return slots_[random_.below(slots_.size())]; }
    std::vector<Slot> &slots() { return slots_; }

    // The checksum, seeded with granule and generation, is the detector; comparing with the generator the locator.
    void look(const Slot &slot) {
        arena_.access().read(*slot.region, slot.offset, bytes_ = std::vector<std::byte>(granule));
        context_.count_check();
        tally.add_bits(8.0 * granule);
        std::vector<std::byte> due(granule);
        generate(datum(slot), due.data(), granule, address(slot));
        const auto crc = [&](const auto &bytes) {
            return integrity::granule_crc(bytes.data(), granule, slot.content, slot.generation);
        };
        if (crc(due) == crc(bytes_)) return;
        locate(slot);
        judge(context_, tally);
    }

    integrity::Tally tally;

private:
    // All granules have addresses of their own, so that one in the place of another is told.
    uint64_t address(const Slot &slot) const { return slot.content * granule; }
    Datum datum(const Slot &slot) const { return {Pattern::address_hash, 0, seed_, slot.generation}; }

    void locate(const Slot &slot) {
        ++tally.incidents;
        compare(datum(slot), bytes_.data(), granule, address(slot), [&](const integrity::WrongWord &word) {
            const uint64_t in_granule = word.address - address(slot), offset = slot.offset + in_granule;
            tally.lanes.add(offset, word.expected, word.actual);
            tally.wrong_bytes += integrity::wrong_bytes_in(word.expected, word.actual);
            if (tally.records.size() >= 16) return;
            integrity::ErrorRecord record;
            record.datum = datum(slot);
            record.from = record.to = device_.tier(slot.region->tier).name;
            record.region = slot.region->region;
            record.offset = offset;
            record.expected = word.expected;
            record.actual = word.actual;
            for (auto &again : record.again) {
                const uint64_t line = offset / 64 * 64;
                const auto bytes = arena_.access().read(*slot.region, line, 64);
                std::memcpy(&again, bytes.data() + (offset - line), sizeof again);
            }
            record.reread = integrity::judge_rereads(word.expected, word.actual, record.again);
            const std::span<const std::byte> all(bytes_);
            record.origin = origin_of({datum(slot), nullptr, next_content_ * granule}, word,
                                      all.subspan(in_granule + 8, 64 - 8 - in_granule % 64));
            if (record.origin.fault_class == fault::wrong_value) find_slot(record, word);
            // Granules are never where they were made, so that a place says nothing, and an earlier generation is old data.
            if (record.origin.back > 0) record.origin.fault_class = fault::stale;
            record.origin.address.reset();
            tally.add(record);
        });
    }

    // Generations count up over all granules, so that older data of this place is found among what was written.
    void find_slot(integrity::ErrorRecord &record, const integrity::WrongWord &word) {
        for (uint64_t content = 0; content < next_content_; ++content) {
            const uint64_t at = content * granule + word.address % granule;
            const Datum other{Pattern::address_hash, 0, seed_, static_cast<uint32_t>(content + 1)};
            if (word_of(other, at) != word.actual) continue;
            const bool older = content < word.address / granule;
            record.origin.fault_class = older ? fault::stale : fault::misplaced;
            record.origin.text = fmt::format("{}: the data of granule {}, where granule {} is due",
                                             older ? "stale" : "misplaced", content, word.address / granule);
            return;
        }
    }

    Context &context_;
    Instance &device_;
    Arena &arena_;
    Random random_;
    uint32_t seed_;
    Queue queue_;
    uint64_t next_content_ = 0;
    uint32_t generation_ = 0;
    std::vector<Slot> slots_;
    std::vector<std::byte> bytes_;
};

} // namespace

HBF_CASE("integrity.soak.random_traffic_checksum", {.rules = {"HBF-DMA-2", "HBF-QUEUE-2"},
                                                    .kills = {"m24_ordered_reordered", "m26_stale_generation"},
                                                    .needs = need::cpu_tier,
                                                    .budget_s = 0.3,
                                                    .limit_s = 60}) {
    auto &device = context.device();
    Arena arena(device, device.dma_tiers(), context.scaled(256u << 10, 1u << 20, 16u << 20));
    for (const auto &text : arena.skipped()) context.note(text);
    if (arena.places().empty()) context.not_observable("no tier has room for two regions of 64 KiB");
    const uint32_t values = std::min<uint32_t>(device.queue_info().max_depth, 16);
    Traffic traffic(context, arena, values);
    uint64_t rounds = 0;
    do {
        traffic.burst(values);
        for (int i = 0; i < 8; ++i) traffic.look(traffic.any());
        traffic.renew(traffic.any());
    } while (++rounds < 8 || context.time_left());
    for (const auto &slot : traffic.slots()) traffic.look(slot);
    context.metric({.name = "integrity.rounds", .unit = "rounds", .value = static_cast<double>(rounds)});
    judge(context, traffic.tally);
}

} // namespace hbf::conformance
