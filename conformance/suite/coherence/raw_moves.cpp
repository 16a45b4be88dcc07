// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/coherence/raw_moves.hpp"

#include "conformance/suite/coherence/litmus_run.hpp"

namespace hbf::conformance::coherence {
namespace {

constexpr uint64_t owner = 7;

// Two frames between which it moves.
struct RawMove {
    std::array<std::vector<std::byte>, 2> frames{std::vector<std::byte>(litmus::granule_size),
                                                 std::vector<std::byte>(litmus::granule_size)};
    std::atomic<uint32_t> current{0};
    void move() {
        const uint32_t from = current.load(std::memory_order_relaxed);
        litmus::copy_words(frames[1 - from], frames[from]);
        current.store(1 - from, std::memory_order_release);
    }
    std::span<std::byte> now() { return frames[current.load(std::memory_order_acquire)]; }
};

} // namespace

void read_beside_raw_copy(Sightings &out) {
    std::vector<std::byte> shared(litmus::granule_size), source(litmus::granule_size);
    litmus::write_granule(shared, {owner, 1});
    run_beside(
        [&](Over &over) {
            const auto begin = measure::Clock::now();
            for (uint64_t version = 2; running(over) && elapsed(begin) < 0.02; ++version) {
                litmus::write_granule(source, {owner, version});
                litmus::copy_words(shared, source);
            }
        },
        [&](Over &over) {
            while (running(over) && !out.enough()) out.count(litmus::read_granule(shared).kind != litmus::Reading::whole);
        });
}

void add_beside_raw_move(Sightings &out) {
    RawMove raw;
    uint64_t added = 0;
    run_beside(
        [&](Over &over) {
            const auto begin = measure::Clock::now();
            while (running(over) && elapsed(begin) < 0.005) raw.move();
        },
        [&](Over &over) {
            while (running(over)) {
                word_at(raw.now(), added % 64).fetch_add(1, std::memory_order_relaxed);
                ++added;
            }
        });
    uint64_t sum = 0;
    for (uint64_t i = 0; i < 64; ++i) sum += word_at(raw.now(), i).load(std::memory_order_relaxed);
    out.count(sum != added);
}

void publish_beside_raw_move(Sightings &out) {
    RawMove raw;
    std::atomic<uint64_t> flag{0};
    run_beside(
        [&](Over &over) {
            const auto begin = measure::Clock::now();
            while (running(over) && elapsed(begin) < 0.02 && !out.enough()) {
                raw.move();
                const uint64_t announced = flag.load(std::memory_order_acquire);
                out.count(word_at(raw.now(), announced % 64).load(std::memory_order_relaxed) < announced);
            }
        },
        [&](Over &over) {
            for (uint64_t number = 1; running(over); ++number) {
                word_at(raw.now(), number % 64).store(number, std::memory_order_relaxed);
                flag.store(number, std::memory_order_release);
            }
        });
}

Sightings until_seen(const Context &context, const char *name, void (*round)(Sightings &out)) {
    Sightings out{name};
    const auto begin = measure::Clock::now();
    while (!out.enough() && elapsed(begin) < patience_s(context)) round(out);
    return out;
}

} // namespace hbf::conformance::coherence
