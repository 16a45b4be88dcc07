// SPDX-License-Identifier: Apache-2.0
#include "conformance/litmus/harness.hpp"

#include <algorithm>
#include <bit>

#include "conformance/litmus/crew.hpp"
#include "conformance/measure/placement.hpp"

namespace hbf::litmus {
namespace {

constexpr auto batch_limit = std::chrono::milliseconds(50); // then what is done counts

// Keeps the memory system busy: stores and loads over more than a first-level cache, in words that nobody shares.
void stress(std::atomic<bool> &over, std::vector<uint64_t> &room, uint64_t seed) {
    Random random(seed);
    for (uint64_t sum = 0; !over.load(std::memory_order_relaxed);) {
        for (unsigned i = 0; i < 64; ++i) {
            const uint64_t at = random();
            room[at % room.size()] = at + sum;
            sum += room[(at >> 32) % room.size()];
        }
    }
}

} // namespace

class Harness::Crew {
public:
    Crew(unsigned agents, Arena arena, uint64_t seed)
        : arena_(std::move(arena)), home_(measure::allowed_cpus()), serial_((seed & 0xFFFFFFFF) << 24 | 1u << 20),
          threads_(most_threads(agents)) {
        for (auto &results : results_) results.resize(uint64_t{most_instances} * most_registers);
    }
    ~Crew() { measure::bind_thread(home_); }

    Slice run(const Shape &shape, const Config &config, double seconds);
    unsigned cpus() const { return static_cast<unsigned>(home_.size()); }
    const Arena &arena() const { return arena_; }

private:
    unsigned most_threads(unsigned agents) const { // with one stressing thread a spare CPU
        return std::max(agents, std::min(cpus(), agents + 8));
    }
    void place(unsigned thread, const Config &config) const;
    uint32_t act(const Shape &shape, const Config &config, const Placement &placement, unsigned agent, uint64_t first);

    Arena arena_;
    std::vector<int> home_;
    uint64_t serial_; // of the next instance; the low bits of a stored value are the step's
    std::vector<uint64_t> results_[most_agents];
    uint32_t ran_[most_agents] = {};
    MeetingPoint meeting_;
    std::atomic<uint32_t> running_{0};
    std::atomic<bool> quiet_{false}; // stressing threads end
    std::vector<uint64_t> noise_[8];
    Threads threads_;
};

// An agent to a CPU, then the stressing threads to the rest.
void Harness::Crew::place(unsigned thread, const Config &config) const {
    if (!config.pinned || home_.size() < 2)
        measure::bind_thread(home_);
    else
        measure::bind_thread({home_[(thread + config.first_cpu) % home_.size()]});
}

uint32_t Harness::Crew::act(const Shape &shape, const Config &config, const Placement &placement, unsigned agent,
                            uint64_t first) {
    const Agent &code = shape.agents[agent];
    const uint32_t instances = placement.instances();
    const unsigned locations = shape.locations();
    uint64_t *const results = results_[agent].data();
    Random random(config.seed ^ (first * most_agents + agent));
    if (config.preload != Preload::none)
        for (uint32_t i = 0; i < instances; ++i)
            for (unsigned location = 0; location < locations; ++location) {
                if (config.preload == Preload::flushed)
                    flush_line(placement.word(location, i));
                else
                    (void)load_word<Order::relaxed>(*placement.word(location, i));
            }
    uint16_t delays[most_steps] = {};
    Word *words[most_locations] = {};
    for (uint32_t i = 0; i < instances; ++i) {
        for (unsigned location = 0; location < locations; ++location) words[location] = placement.word(location, i);
        if (config.most_delay != 0)
            for (uint16_t &turns : delays) {
                const uint64_t drawn = random();
                turns = drawn & 1 ? static_cast<uint16_t>((drawn >> 1) % (config.most_delay + 1u)) : 0;
            }
        if ((config.meeting == Meeting::each || i == 0) && !meeting_.meet(agent, i + 1)) {
            fence_words<Order::streaming>();
            return i;
        }
        code.run({words, (first + i) << value_bits, results + uint64_t{i} * most_registers, delays});
    }
    fence_words<Order::streaming>(); // what is on its way arrives before this batch is counted
    return instances;
}

Slice Harness::Crew::run(const Shape &shape, const Config &config, double seconds) {
    const auto begin = Clock::now();
    const auto end = begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
    const Placement placement(arena_, config, most_instances);
    const auto agents = static_cast<unsigned>(shape.agents.size());
    const unsigned members = agents + config.stressors;
    Slice slice;
    uint64_t first = 0;
    quiet_.store(false, std::memory_order_relaxed);
    running_.store(agents, std::memory_order_relaxed);
    bool placed = false;
    // One call of the threads for all batches: member 0 sets up, all meet, all run, all meet, member 0 counts.
    const std::function<void(unsigned)> job = [&](unsigned member) {
        if (!placed) place(member, config);
        if (member >= agents) {
            auto &room = noise_[member - agents];
            if (room.empty()) room.resize(32 * 1024);
            stress(quiet_, room, config.seed + member);
            return;
        }
        ran_[member] = act(shape, config, placement, member, first);
        if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) quiet_.store(true, std::memory_order_relaxed);
    };
    do {
        first = serial_;
        serial_ += placement.instances();
        prepare_words(shape, placement, first);
        meeting_.open(agents, Clock::now() + batch_limit);
        quiet_.store(false, std::memory_order_relaxed);
        running_.store(agents, std::memory_order_relaxed);
        threads_.run(members, job);
        placed = true;
        const uint32_t count = *std::min_element(ran_, ran_ + agents);
        Batch batch{shape, config, placement, first, count, {}};
        for (unsigned agent = 0; agent < agents; ++agent) batch.results[agent] = results_[agent].data();
        count_batch(batch, slice);
        ++slice.batches;
    } while (Clock::now() < end);
    slice.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return slice;
}

Harness::Harness(unsigned agents, Arena arena, uint64_t seed)
    : crew_(std::make_unique<Crew>(agents, std::move(arena), seed)) {}
Harness::~Harness() = default;
Slice Harness::run(const Shape &shape, const Config &config, double seconds) {
    return crew_->run(shape, config, seconds);
}
unsigned Harness::cpus() const {
    return crew_->cpus();
}
unsigned Harness::ranges() const {
    return static_cast<unsigned>(crew_->arena().ranges.size());
}

} // namespace hbf::litmus
