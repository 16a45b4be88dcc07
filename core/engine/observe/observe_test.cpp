// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/engine/observe/guarded.hpp"
#include "core/engine/observe/page.hpp"
#include "core/engine/observe/view.hpp"

namespace hbf::kv::observe {
namespace {

Page::Options options(uint32_t blocks = 100) {
    Page::Options out;
    out.name = "a model";
    out.policy = "ahas";
    out.blocks = blocks;
    out.tiers[0] = {true, true, 1 << 20, "DRAM, node 0"};
    out.tiers[2] = {true, false, 1 << 30, "a file"};
    return out;
}

std::unique_ptr<Page> made(const Page::Options &how = options()) {
    auto page = Page::create(how);
    EXPECT_TRUE(page) << page.error().message;
    return std::move(*page);
}

View only_page_of(pid_t pid) {
    const auto files = find_pages_of(static_cast<uint32_t>(pid));
    EXPECT_EQ(files.size(), 1u);
    auto view = View::open(files.empty() ? PageFile{} : files.front());
    EXPECT_TRUE(view) << view.error().message;
    return std::move(*view);
}

BlockValue numbered(uint32_t number) {
    BlockValue value;
    value.score = value.layer = static_cast<uint16_t>(number);
    value.heat = static_cast<int16_t>(number);
    value.tiers = 1;
    return value;
}

TEST(Observe, WhatIsWrittenIsRead) {
    const auto page = made();
    page->add(Counter::lookups, 3);
    page->block(7, numbered(42));
    page->tier(kv::Tier::hbm, 4096, 64, 5, 1);
    page->capacity(kv::Tier::cold, 77);
    page->scheduler().t_hbm = 950'000;
    EXPECT_EQ(page->add_thread("mover"), 0);
    page->beat(0);
    const View view = only_page_of(::getpid());
    EXPECT_EQ(view.name(), "a model");
    EXPECT_EQ(view.policy(), "ahas");
    EXPECT_EQ(view.counter(Counter::lookups), 3u);
    EXPECT_EQ(view.block(7)->layer, 42);
    EXPECT_EQ(view.block_end(), 8u);
    EXPECT_EQ(view.block(8)->tiers, 0);
    EXPECT_FALSE(view.block(100));
    EXPECT_EQ(view.header().tiers[0].used, 4096u);
    EXPECT_EQ(view.header().tiers[0].emulated, 1u);
    EXPECT_EQ(view.header().tiers[1].present, 0u);
    EXPECT_EQ(view.header().tiers[2].capacity, 77u);
    EXPECT_EQ(text_of(view.header().tiers[2].medium, sizeof(TierRow::medium)), "a file");
    EXPECT_EQ(view.header().threads[0].beats, 1u);
    EXPECT_EQ(text_of(view.header().threads[0].name, sizeof(ThreadRow::name)), "mover");
    page->add(Counter::lookups); // seen without being asked for
    EXPECT_EQ(view.counter(Counter::lookups), 4u);
    page->end_thread(0);
    EXPECT_EQ(view.header().threads[0].tid, 0u);
    page->block(100, numbered(1)); // beyond the room: left out
}

TEST(Observe, APageGoesWithItsCache) {
    made();
    EXPECT_TRUE(find_pages_of(static_cast<uint32_t>(::getpid())).empty());
}

TEST(Observe, TheNewestEventsAreKeptAndCounted) {
    const auto page = made();
    for (uint32_t i = 0; i < event_room + 10; ++i) page->event({.block = i, .when_ns = now_ns()});
    const View view = only_page_of(::getpid());
    const auto all = view.events();
    ASSERT_EQ(all.size(), event_room);
    EXPECT_EQ(all.front().block, event_room + 9);
    EXPECT_EQ(all.back().block, 10u);
    EXPECT_EQ(view.events(3).size(), 3u);
    EXPECT_EQ(view.header().event_count, event_room + 10u);
}

TEST(Observe, NoBlockIsReadTorn) {
    const auto page = made();
    const View view = only_page_of(::getpid());
    std::atomic<bool> stop{false};
    std::thread writer([&] {
        for (uint32_t i = 1; !stop; ++i) page->block(0, numbered(i % 60'000));
    });
    uint64_t seen = 0;
    for (int i = 0; i < 200'000; ++i) {
        const auto value = view.block(0);
        if (!value || value->tiers == 0) continue;
        ++seen;
        ASSERT_EQ(value->score, value->layer);
        ASSERT_EQ(value->layer, static_cast<uint16_t>(value->heat));
    }
    stop = true;
    writer.join();
    EXPECT_GT(seen, 0u);
}

TEST(Observe, ARowThatIsBeingWrittenSaysSoAtOnce) {
    Guarded<BlockValue> row{};
    store(row, numbered(5));
    EXPECT_EQ(load(row)->layer, 5);
    row.sequence = 3; // as its writer was stopped
    EXPECT_FALSE(load(row));
}

// Runs `body` in a child that never returns from it; ended at the end of the scope.
class Child {
public:
    template <class Body>
    explicit Child(Body &&body) {
        int ready[2];
        EXPECT_EQ(::pipe(ready), 0);
        pid_ = ::fork();
        if (pid_ == 0) {
            body([&] { [[maybe_unused]] const auto done = ::write(ready[1], "x", 1); });
            for (;;) ::pause();
        }
        ::close(ready[1]);
        char byte = 0;
        EXPECT_EQ(::read(ready[0], &byte, 1), 1);
        ::close(ready[0]);
    }
    ~Child() {
        ::kill(pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    pid_t pid() const { return pid_; }

private:
    pid_t pid_ = 0;
};

TEST(Observe, AStoppedProcessIsReadAsItStands) {
    const Child child([](auto ready) {
        auto page = Page::create(options());
        (*page)->add(Counter::filled_blocks, 9);
        ready();
        for (;;) ::pause();
    });
    ASSERT_EQ(::kill(child.pid(), SIGSTOP), 0);
    int status = 0;
    ASSERT_EQ(::waitpid(child.pid(), &status, WUNTRACED), child.pid());
    ASSERT_TRUE(WIFSTOPPED(status));
    const View view = only_page_of(child.pid());
    EXPECT_EQ(view.counter(Counter::filled_blocks), 9u);
    EXPECT_EQ(look_at(view.pid()).state, 'T');
    EXPECT_EQ(look_at(0x7fffffff).state, '-');
}

TEST(Observe, ALockThatIsHeldShowsItsHolderAndWhoWaits) {
    const auto page = made();
    ShownMutex mutex;
    LockRow *const row = page->add_lock("cache");
    ASSERT_NE(row, nullptr);
    mutex.show(row);
    const View view = only_page_of(::getpid());
    mutex.lock();
    EXPECT_EQ(view.header().locks[0].holder, static_cast<uint64_t>(::gettid()));
    EXPECT_FALSE(mutex.try_lock());
    std::thread waiter([&] { const std::lock_guard lock(mutex); });
    while (view.header().locks[0].waiting == 0) std::this_thread::yield();
    EXPECT_EQ(text_of(view.header().locks[0].name, sizeof(LockRow::name)), "cache");
    mutex.unlock();
    waiter.join();
    EXPECT_EQ(view.header().locks[0].holder, 0u);
    EXPECT_EQ(view.header().locks[0].waiting, 0u);
}

struct Fake { // a memfd of that name which is no page
    Fake(const void *bytes, size_t size, unsigned seals) : fd(::memfd_create(page_file, MFD_ALLOW_SEALING | MFD_CLOEXEC)) {
        EXPECT_EQ(::write(fd, bytes, size), static_cast<ssize_t>(size));
        EXPECT_EQ(::fcntl(fd, F_ADD_SEALS, seals), 0);
    }
    ~Fake() { ::close(fd); }
    hbf::Result<View> open() const { return View::open({static_cast<uint32_t>(::getpid()), fd, ""}); }
    int fd;
};

TEST(Observe, WhatIsNoPageIsRefused) {
    auto header = std::make_unique<Header>();
    std::memcpy(header->magic, page_magic, sizeof page_magic);
    header->version = page_version;
    header->header_size = sizeof(Header);
    header->page_size = sizeof(Header);
    const auto why = [&](unsigned seals = F_SEAL_SHRINK, size_t size = sizeof(Header)) {
        const Fake fake(header.get(), size, seals);
        const auto view = fake.open();
        return view ? std::string() : view.error().message;
    };
    EXPECT_EQ(why(), "");
    EXPECT_NE(why(F_SEAL_GROW).find("could shrink"), std::string::npos);
    EXPECT_NE(why(F_SEAL_SHRINK, 100).find("100 bytes"), std::string::npos);
    header->block_room = 1;
    EXPECT_NE(why().find("sizes do not agree"), std::string::npos);
    header->block_room = 0;
    header->version = 2;
    EXPECT_NE(why().find("version 2"), std::string::npos);
    header->magic[0] = 'X';
    EXPECT_NE(why().find("no page"), std::string::npos);
    const auto none = View::open({static_cast<uint32_t>(::getpid()), 999'999, ""});
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Code::unavailable);
}

TEST(Observe, TextsOfOthersAreCutAndMadeHarmless) {
    const char text[8] = {'a', '\x1b', '[', '3', '1', 'm', 'b', 'c'}; // and no end
    const auto shown = text_of(text, sizeof text);
    EXPECT_EQ(shown.find('\x1b'), std::string::npos);
    EXPECT_NE(shown.find("bc"), std::string::npos);
}

} // namespace
} // namespace hbf::kv::observe
