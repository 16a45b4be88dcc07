// SPDX-License-Identifier: Apache-2.0
#include "core/engine/observe/page.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <new>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/engine/observe/guarded.hpp"

namespace hbf::kv::observe {
namespace {

template <size_t Room>
void put_text(char (&to)[Room], std::string_view text) noexcept {
    const size_t length = std::min(text.size(), Room - 1);
    std::memcpy(to, text.data(), length);
    std::memset(to + length, 0, Room - length);
}

uint64_t own_tid() noexcept {
    thread_local const auto tid = static_cast<uint64_t>(::syscall(SYS_gettid));
    return tid;
}

Error refused(const std::string &what) {
    return {Code::exhausted, fmt::format("shared page for hbf monitor: {}: {}", what, std::strerror(errno))};
}

} // namespace

uint64_t now_ns() noexcept {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

hbf::Result<std::unique_ptr<Page>> Page::create(const Options &options) {
    const uint64_t size = sizeof(Header) + uint64_t{options.blocks} * sizeof(BlockRow);
    const int fd = ::memfd_create(page_file, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return tl::unexpected(refused("memfd_create"));
    // It can neither shrink under a reader nor grow.
    if (::ftruncate(fd, static_cast<off_t>(size)) != 0 ||
        ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        auto error = refused(fmt::format("{} bytes", size));
        ::close(fd);
        return tl::unexpected(std::move(error));
    }
    void *const at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) {
        auto error = refused(fmt::format("mmap of {} bytes", size));
        ::close(fd);
        return tl::unexpected(std::move(error));
    }
    auto *const header = ::new (at) Header{}; // all zero already, and so is what it is made of
    header->version = page_version;
    header->header_size = sizeof(Header);
    header->page_size = size;
    header->pid = static_cast<uint32_t>(::getpid());
    header->block_room = options.blocks;
    header->opened_ns = now_ns();
    put_text(header->name, options.name);
    put_text(header->policy, options.policy);
    for (uint32_t i = 0; i < tier_room; ++i) {
        const Tier &from = options.tiers[i];
        TierRow &to = header->tiers[i];
        put_text(to.medium, from.medium);
        to.capacity = from.capacity;
        to.emulated = from.emulated ? 1 : 0;
        to.present = from.present ? 1 : 0;
    }
    // Last: before it, this is no page.
    static_assert(offsetof(Header, magic) == 0 && sizeof(Header::magic) == sizeof(Word));
    uint64_t magic = 0;
    std::memcpy(&magic, page_magic, sizeof magic);
    reinterpret_cast<Word *>(header->magic)->store(magic, std::memory_order_release);
    auto *const page = new (std::nothrow) Page(header, fd);
    if (page != nullptr) return std::unique_ptr<Page>(page);
    ::munmap(at, size); // or it would be found for as long as the process lives
    ::close(fd);
    return fail(Code::exhausted, "no memory for a page");
}

Page::~Page() {
    ::munmap(header_, header_->page_size);
    ::close(fd_);
}

BlockRow *Page::blocks() noexcept {
    return reinterpret_cast<BlockRow *>(header_ + 1);
}

void Page::block(BlockId id, const BlockValue &value) noexcept {
    if (id >= header_->block_room) return;
    store(blocks()[id], value);
    uint64_t end = header_->block_end.load(std::memory_order_relaxed);
    while (end <= id && !header_->block_end.compare_exchange_weak(end, uint64_t{id} + 1, std::memory_order_release))
        continue;
}

BlockValue Page::value(BlockId id) noexcept {
    return id < header_->block_room ? load(blocks()[id]).value_or(BlockValue{}) : BlockValue{};
}

void Page::event(const EventValue &value) noexcept {
    const uint64_t number = header_->event_count.load(std::memory_order_relaxed);
    store(header_->events[number % event_room], value);
    header_->event_count.store(number + 1, std::memory_order_release);
    header_->clock_ns.store(value.when_ns, std::memory_order_relaxed);
}

void Page::tier(kv::Tier tier, uint64_t used, uint64_t unusable, uint64_t blocks, uint64_t pinned) noexcept {
    TierRow &row = header_->tiers[static_cast<size_t>(tier)];
    row.used.store(used, std::memory_order_relaxed);
    row.unusable.store(unusable, std::memory_order_relaxed);
    row.blocks.store(blocks, std::memory_order_relaxed);
    row.pinned.store(pinned, std::memory_order_relaxed);
}

void Page::used(kv::Tier tier, uint64_t bytes) noexcept {
    header_->tiers[static_cast<size_t>(tier)].used.store(bytes, std::memory_order_relaxed);
}

void Page::capacity(kv::Tier tier, uint64_t bytes) noexcept {
    header_->tiers[static_cast<size_t>(tier)].capacity.store(bytes, std::memory_order_relaxed);
}

int Page::add_thread(std::string_view name) noexcept {
    const std::lock_guard lock(rows_);
    for (uint32_t i = 0; i < thread_room; ++i) {
        ThreadRow &row = header_->threads[i];
        if (row.tid.load(std::memory_order_relaxed) != 0) continue;
        put_text(row.name, name);
        row.beats.store(0, std::memory_order_relaxed);
        row.beat_ns.store(now_ns(), std::memory_order_relaxed);
        row.tid.store(own_tid(), std::memory_order_release);
        return static_cast<int>(i);
    }
    return -1;
}

void Page::beat(int thread) noexcept {
    if (thread < 0) return;
    ThreadRow &row = header_->threads[thread];
    row.beats.fetch_add(1, std::memory_order_relaxed);
    row.beat_ns.store(now_ns(), std::memory_order_relaxed);
}

void Page::end_thread(int thread) noexcept {
    if (thread >= 0) header_->threads[thread].tid.store(0, std::memory_order_release);
}

LockRow *Page::add_lock(std::string_view name) noexcept {
    const std::lock_guard lock(rows_);
    for (LockRow &row : header_->locks) {
        if (row.name[0] != 0) continue;
        put_text(row.name, name);
        return &row;
    }
    return nullptr;
}

void ShownMutex::taken() noexcept {
    if (!row_) return;
    row_->since_ns.store(now_ns(), std::memory_order_relaxed);
    row_->holder.store(own_tid(), std::memory_order_release);
}

void ShownMutex::lock() {
    if (row_ && mutex_.try_lock()) return taken();
    if (row_) row_->waiting.fetch_add(1, std::memory_order_relaxed);
    mutex_.lock();
    if (row_) row_->waiting.fetch_sub(1, std::memory_order_relaxed);
    taken();
}

bool ShownMutex::try_lock() {
    const bool got = mutex_.try_lock();
    if (got) taken();
    return got;
}

void ShownMutex::unlock() {
    if (row_) row_->holder.store(0, std::memory_order_relaxed);
    mutex_.unlock();
}

} // namespace hbf::kv::observe
