// SPDX-License-Identifier: Apache-2.0
// Storage for tests: files in memory, I/O that finishes when, how and in the order the test says.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>
#include <vector>

#include "../storage/storage_tier.hpp"

namespace hbf::host::testing {

struct FakeFile : StorageFile {
    explicit FakeFile(size_t size) : bytes(size) {}
    uint64_t size() const override { return bytes.size(); }
    void publish() override {}
    std::vector<std::byte> bytes;
};

struct FakeIo {
    bool write = false;
    FakeFile *file = nullptr;
    uint64_t offset = 0, size = 0;
    std::byte *memory = nullptr;
    uint64_t tag = 0, number = 0; // counted over all I/O
};

// Shared by all channels of a FakeStorage.
struct FakeControl {
    std::mutex mutex;
    std::condition_variable changed;
    uint64_t begun = 0, finished = 0, kicks = 0;
    uint64_t hold_from = UINT64_MAX; // I/O with this number or more does not finish
    bool newest_first = false;
    size_t room = 64, most_in_flight = 0;
    std::function<IoResult(const FakeIo &)> fault; // a status other than OK moves no bytes

    void hold(uint64_t from) {
        std::lock_guard lock(mutex);
        hold_from = from;
    }
    void let_finish(uint64_t below = UINT64_MAX) {
        hold(below);
        changed.notify_all();
    }
    uint64_t begun_so_far() {
        std::lock_guard lock(mutex);
        return begun;
    }
};

class FakeChannel : public StorageChannel {
public:
    explicit FakeChannel(FakeControl &control) : control_(control) {}
    bool has_room() const override {
        std::lock_guard lock(control_.mutex);
        return waiting_.size() < control_.room;
    }
    void read(StorageFile &file, uint64_t offset, std::byte *dst, uint64_t size, uint64_t tag) override {
        begin({false, static_cast<FakeFile *>(&file), offset, size, dst, tag, 0});
    }
    void write(StorageFile &file, uint64_t offset, const std::byte *src, uint64_t size, uint64_t tag) override {
        begin({true, static_cast<FakeFile *>(&file), offset, size, const_cast<std::byte *>(src), tag, 0});
    }
    void kick() override {
        std::lock_guard lock(control_.mutex);
        ++control_.kicks;
        kicked_ = waiting_.size();
    }
    size_t reap(std::span<IoResult> out, uint64_t timeout_ns) override {
        std::unique_lock lock(control_.mutex);
        const auto ready = [&] { return next() != waiting_.end(); };
        if (!ready() && timeout_ns != 0) control_.changed.wait_for(lock, std::chrono::nanoseconds(timeout_ns), ready);
        size_t count = 0;
        for (auto at = next(); at != waiting_.end() && count < out.size(); at = next()) {
            out[count++] = finish(*at);
            waiting_.erase(at);
            if (kicked_ != 0) --kicked_;
            ++control_.finished;
        }
        return count;
    }
    size_t in_flight() const override { return waiting_.size(); }

private:
    void begin(FakeIo io) {
        std::lock_guard lock(control_.mutex);
        if (waiting_.size() >= control_.room) std::abort(); // the queue must ask has_room
        io.number = control_.begun++;
        waiting_.push_back(io);
        control_.most_in_flight = std::max(control_.most_in_flight, waiting_.size());
    }
    std::deque<FakeIo>::iterator next() { // only what was kicked
        auto found = waiting_.end();
        for (auto at = waiting_.begin(); at != waiting_.begin() + static_cast<ptrdiff_t>(std::min(kicked_, waiting_.size()));
             ++at)
            if (at->number < control_.hold_from && (found == waiting_.end() || control_.newest_first)) found = at;
        return found;
    }
    IoResult finish(const FakeIo &io) {
        IoResult result;
        if (control_.fault) result = control_.fault(io);
        result.tag = io.tag;
        if (result.status != HBF_OK) return result;
        std::byte *const file = io.file->bytes.data() + io.offset;
        if (io.write)
            memcpy(file, io.memory, io.size);
        else
            memcpy(io.memory, file, io.size);
        return result;
    }

    FakeControl &control_;
    std::deque<FakeIo> waiting_;
    size_t kicked_ = 0;
};

class FakeStorage : public StorageTier {
public:
    FakeControl control;
    void describe(hbf_tier_info &) const override {}
    std::shared_ptr<StorageFile> create(uint64_t size, const std::string &, bool) override {
        return std::make_shared<FakeFile>(size);
    }
    std::unique_ptr<StorageChannel> create_channel(uint32_t) override { return std::make_unique<FakeChannel>(control); }
    void register_memory(std::byte *, uint64_t) override {}
    void unregister_memory(std::byte *) noexcept override {}
};

} // namespace hbf::host::testing
