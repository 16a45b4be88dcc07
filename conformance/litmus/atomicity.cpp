// SPDX-License-Identifier: Apache-2.0
#include "conformance/litmus/atomicity.hpp"

#include <algorithm>

#include "conformance/litmus/access.hpp"
#include "conformance/litmus/random.hpp"
#include "conformance/measure/placement.hpp"

namespace hbf::litmus {
namespace {

constexpr unsigned words = 8;               // shared by all: few, so that threads meet at them
constexpr uint64_t apart[] = {8, 64, 4096}; // bytes from one to the next
constexpr unsigned turns = 512;             // between looks at the clock

// Threads on a CPU each while it lives; the caller's are its own again afterwards.
class Spread {
public:
    void place(unsigned thread) const {
        if (home_.size() > 1) measure::bind_thread({home_[thread % home_.size()]});
    }
    ~Spread() { measure::bind_thread(home_); }

private:
    std::vector<int> home_ = measure::allowed_cpus();
};

std::vector<Word *> shared_words(std::span<std::byte> memory, Random &random) {
    const uint64_t stride = std::min(apart[random.below(std::size(apart))], memory.size() / words / 8 * 8);
    std::vector<Word *> out;
    for (uint64_t i = 0; i < words; ++i) out.push_back(reinterpret_cast<Word *>(memory.data() + i * stride));
    return out;
}

double since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

void add_one(Word &word, Access access, uint32_t wait) {
    std::atomic_ref<Word> shared(word);
    if (access == Access::atomic) {
        shared.fetch_add(1, std::memory_order_relaxed);
        return;
    }
    const Word value = shared.load(std::memory_order_relaxed);
    delay(wait);
    shared.store(value + 1, std::memory_order_relaxed);
}

// Both halves alike.
Word doubled(uint32_t half) {
    return Word{half} << 32 | half;
}

void store_halves(Word &word, Access access, uint32_t half) {
    if (access == Access::atomic) {
        std::atomic_ref<Word>(word).store(doubled(half), std::memory_order_relaxed);
        return;
    }
    auto *halves = reinterpret_cast<uint32_t *>(&word);
    std::atomic_ref<uint32_t>(halves[0]).store(half, std::memory_order_relaxed);
    delay(half % 16);
    std::atomic_ref<uint32_t>(halves[1]).store(half, std::memory_order_relaxed);
}

} // namespace

void Tally::add(const Tally &other) {
    if (bad == 0 && other.bad != 0) {
        expected = other.expected;
        actual = other.actual;
        address = other.address;
    }
    trials += other.trials;
    bad += other.bad;
    seconds += other.seconds;
}

Tally run_adding(Threads &threads, unsigned agents, std::span<std::byte> memory, Access access, double seconds,
                 uint64_t seed) {
    Random layout(seed);
    const std::vector<Word *> shared = shared_words(memory, layout);
    for (Word *word : shared) store_word<Order::relaxed>(*word, 0);
    std::vector<std::vector<uint64_t>> added(agents, std::vector<uint64_t>(words));
    std::atomic<bool> over{false};
    const auto begin = Clock::now();
    const Spread spread;
    threads.run(agents, [&](unsigned thread) {
        spread.place(thread);
        Random random(seed + thread);
        while (!over.load(std::memory_order_relaxed)) {
            for (unsigned turn = 0; turn < turns; ++turn) {
                const uint64_t drawn = random();
                add_one(*shared[drawn % words], access, (drawn >> 8) % 64);
                ++added[thread][drawn % words];
            }
            if (thread == 0 && since(begin) >= seconds) over.store(true, std::memory_order_relaxed);
        }
    });
    Tally out;
    for (unsigned i = 0; i < words; ++i) {
        uint64_t expected = 0;
        for (const auto &own : added) expected += own[i];
        const uint64_t actual = load_word<Order::relaxed>(*shared[i]);
        out.add({expected, actual > expected ? actual - expected : expected - actual, 0, expected, actual,
                 reinterpret_cast<uintptr_t>(shared[i])});
    }
    out.seconds = since(begin);
    return out;
}

Tally run_tearing(Threads &threads, std::span<std::byte> memory, Access access, double seconds, uint64_t seed) {
    Random layout(seed);
    const std::vector<Word *> shared = shared_words(memory, layout);
    for (Word *word : shared) store_word<Order::relaxed>(*word, 0);
    std::atomic<bool> over{false};
    Tally out;
    const auto begin = Clock::now();
    const Spread spread;
    threads.run(2, [&](unsigned thread) {
        spread.place(thread);
        if (thread == 1) {
            for (uint32_t half = 1; !over.load(std::memory_order_relaxed); ++half)
                for (Word *word : shared) store_halves(*word, access, half * 0x9e3779b1u); // odd: every bit changes often
            return;
        }
        while (since(begin) < seconds)
            for (unsigned turn = 0; turn < turns; ++turn) {
                Word &word = *shared[turn % words];
                const Word seen = load_word<Order::relaxed>(word);
                ++out.trials;
                const auto half = static_cast<uint32_t>(seen);
                if (seen == doubled(half)) continue;
                if (out.bad++ == 0) {
                    out.expected = doubled(half);
                    out.actual = seen;
                    out.address = reinterpret_cast<uintptr_t>(&word);
                }
            }
        over.store(true, std::memory_order_relaxed);
    });
    out.seconds = since(begin);
    return out;
}

} // namespace hbf::litmus
