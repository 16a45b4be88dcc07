// SPDX-License-Identifier: Apache-2.0
// For tests: shows a page as an engine does, says READY, and does what it is told on stdin, a letter each: s a SIGSTOP to
// itself, l another thread takes a lock for ever and a second one waits for it.
// End of input ends it.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>

#include "core/engine/observe/page.hpp"

namespace observe = hbf::kv::observe;

namespace {

void fill(observe::Page &page) {
    using observe::Counter;
    page.add(Counter::lookups, 10);
    page.add(Counter::lookup_tokens, 1000);
    page.add(Counter::hit_tokens, 250);
    page.add(Counter::miss_evicted, 6);
    page.add(Counter::miss_never_stored, 3);
    page.add(Counter::moved_down_bytes, 1 << 20);
    auto &scheduler = page.scheduler();
    scheduler.t_hbm = 950'000;
    scheduler.t_hbf = 300'000;
    scheduler.t_cold = 50'000;
    scheduler.half_life_milli = 300'000;
    scheduler.half_life_adapted = 1;
    scheduler.sequences = 2;
    page.tier(hbf::kv::Tier::hbm, 900 << 10, 0, 2, 1);
    page.tier(hbf::kv::Tier::hbf, 64 << 10, 32 << 10, 1, 0);
    observe::BlockValue block;
    block.score = 63'569; // 0.97
    block.layer = 3;
    block.tokens = 63;
    block.uses = 9;
    block.tiers = 1;
    block.set_place(0, 0);
    block.set_reason(0, observe::Reason::hot);
    page.block(0, block);
    block.score = 6'554; // 0.1
    block.heat = -384;
    block.set_place(1, 2);
    block.set_reason(observe::block_pinned, observe::Reason::hot);
    page.block(5, block);
    page.event({.block = 5,
                .granules = 2,
                .from = 1,
                .to = 0,
                .reason = observe::Reason::hot,
                .reserved = 0,
                .when_ns = observe::now_ns(),
                .took_ns = 12'000});
}

} // namespace

int main() {
    observe::Page::Options options;
    options.name = "random llama";
    options.policy = "ahas";
    options.blocks = 16;
    options.tiers[0] = {true, true, 1 << 20, "HBM of a test"};
    options.tiers[1] = {true, false, 128 << 10, "DRAM, node 0"};
    auto made = observe::Page::create(options);
    if (!made) {
        std::fprintf(stderr, "%s\n", made.error().message.c_str());
        return 1;
    }
    observe::Page &page = **made;
    fill(page);
    observe::ShownMutex mutex;
    mutex.show(page.add_lock("cache"));
    std::puts("READY");
    std::fflush(stdout);
    for (int letter = std::getchar(); letter != EOF; letter = std::getchar()) {
        if (letter == 's') std::raise(SIGSTOP);
        if (letter != 'l') continue;
        std::thread([&] {
            mutex.lock();
            page.add_thread("mover");
            std::thread([&] { mutex.lock(); }).detach();
            std::puts("LOCKED");
            std::fflush(stdout);
            for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
        }).detach();
    }
    std::_Exit(0); // whoever holds the lock holds it
}
