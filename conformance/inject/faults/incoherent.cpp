// SPDX-License-Identifier: Apache-2.0
// Memory that is not as coherent as its domain declares: somebody writes old bytes back, or comes late for them.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <map>
#include <thread>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "conformance/inject/touch.hpp"

namespace hbf::inject {
namespace {

bool in_tier_named(const Device &device, const Settings &settings, uint32_t tier) {
    if (tier >= device.tiers().size()) return false;
    return !settings.given("tier") || device.tiers()[tier].name == settings.text("tier");
}

// A cache that nobody snoops: it reads mapped memory, and some time later writes back what it read, over what CPUs stored
// meanwhile. By halves of words: a reader sees a word that is of two stores.
class StaleWriteback final : public Fault {
public:
    explicit StaleWriteback(const Settings &settings) : Fault(settings), halves_(settings.text("unit") == "half") {}
    ~StaleWriteback() override { end(); }

    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        const hbf_status status = below_->alloc(desc, out, e);
        if (status != HBF_OK || !usable(out, HBF_REGION_INFO_MIN_SIZE) || !out->address ||
            !in_tier_named(device(), settings(), out->tier) || device().software(out->tier) || !fires())
            return status;
        std::lock_guard lock(mutex_);
        regions_[out->region] = {*out, {}};
        if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
        return status;
    }
    hbf_status free(hbf_region region, hbf_error *e) override {
        {
            std::lock_guard lock(mutex_);
            regions_.erase(region);
        }
        return below_->free(region, e);
    }
    void destroy() override {
        end();
        below_->destroy();
    }

private:
    // Asleep, not yielding: who wakes up gets a CPU soon, also on a busy machine.
    static void a_moment() { std::this_thread::sleep_for(std::chrono::microseconds(20)); }
    struct Region {
        hbf_region_info info;
        std::vector<std::byte> kept;
    };
    static void get(Region &region) {
        region.kept.resize(region.info.size / 8 * 8);
        for (uint64_t at = 0; at < region.kept.size(); at += 8) {
            auto *const from = reinterpret_cast<uint64_t *>(static_cast<std::byte *>(region.info.address) + at);
            const uint64_t word = __atomic_load_n(from, __ATOMIC_RELAXED);
            std::memcpy(region.kept.data() + at, &word, sizeof word);
        }
    }
    template <class Word>
    static void put(std::byte *to, const std::vector<std::byte> &kept, uint64_t first) { // of each 8 bytes
        for (uint64_t at = first; at < kept.size(); at += 8) {
            Word word;
            std::memcpy(&word, kept.data() + at, sizeof word);
            __atomic_store_n(reinterpret_cast<Word *>(to + at), word, __ATOMIC_RELAXED);
        }
    }
    // What was read a turn ago is written back, and read anew: between the two everyone else has had the CPU.
    void work() {
        while (!over_) {
            for (const bool high : {false, true}) {
                std::unique_lock lock(mutex_); // no region goes meanwhile
                for (auto &[handle, region] : regions_) {
                    auto *const memory = static_cast<std::byte *>(region.info.address);
                    if (region.kept.empty()) continue;
                    if (!halves_ && !high) put<uint64_t>(memory, region.kept, 0);
                    if (halves_) put<uint32_t>(memory, region.kept, high ? 4 : 0);
                }
                if (halves_ && !high) {
                    lock.unlock();
                    a_moment();
                }
            }
            {
                std::lock_guard lock(mutex_);
                for (auto &[handle, region] : regions_) get(region);
            }
            a_moment();
        }
    }
    void end() {
        over_ = true;
        if (thread_.joinable()) thread_.join();
    }

    const bool halves_;
    std::mutex mutex_;
    std::map<hbf_region, Region> regions_;
    std::atomic<bool> over_{false};
    std::thread thread_;
};
HBF_FAULT(StaleWriteback, "stale-writeback",
          "what CPUs store into coherent memory is now and then overwritten with older bytes", parameter::tier,
          {.key = "unit",
           .kind = Parameter::word,
           .preset = "word",
           .line = "written back at a time",
           .choices = {"word", "half"}});

// An engine that reads its source once more when the value has long completed, and delivers what it finds then.
class SourceReadLate final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<State>(); }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        State &state = state_of<State>(queue);
        hbf_progress now{};
        now.struct_size = sizeof now;
        if (!state.copies.empty() && below_->poll(queue, &now) == HBF_OK && now.completed >= state.value) {
            for (const hbf_copy &copy : state.copies) again(copy);
            state.copies.clear();
        }
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        if (status != HBF_OK || !out_value || !readable(queue, batch)) return status;
        state.copies.clear();
        state.value = *out_value;
        for (uint64_t i = 0; i < batch->command_count; ++i) {
            const hbf_command &command = command_at(*batch, i);
            if (command.kind == HBF_COMMAND_COPY && fires()) state.copies.push_back(command.u.copy);
        }
        return status;
    }

private:
    struct State : QueueState {
        uint64_t value = 0;
        std::vector<hbf_copy> copies; // of that value
    };
    void again(const hbf_copy &copy) {
        if (!device().regions().find(copy.src) || !device().regions().find(copy.dst)) return;
        const auto bytes = device().touch().read(copy.src, copy.src_offset, copy.size);
        if (bytes) device().touch().write(copy.dst, copy.dst_offset, *bytes);
    }
};
HBF_FAULT(SourceReadLate, "source-read-late",
          "a copy that has completed is made again, when the next batch comes to its queue");

// A region's memory is cleared some time after it was freed, when it is someone else's already.
class LateScrub final : public Fault {
public:
    using Fault::Fault;

    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        const hbf_status status = below_->alloc(desc, out, e);
        if (status != HBF_OK || !usable(out, HBF_REGION_INFO_MIN_SIZE)) return status;
        std::lock_guard lock(mutex_);
        if (out->tier == HBF_TIER_NONE || freed_[out->tier] == 0 || !in_tier_named(device(), settings(), out->tier) ||
            !fires())
            return status;
        --freed_[out->tier];
        due_[out->region] = submits_ + settings().number("submits");
        return status;
    }
    hbf_status free(hbf_region region, hbf_error *e) override {
        const auto info = device().regions().find(region);
        const hbf_status status = below_->free(region, e);
        if (status != HBF_OK || !info) return status;
        std::lock_guard lock(mutex_);
        if (info->tier != HBF_TIER_NONE) ++freed_[info->tier];
        due_.erase(region);
        return status;
    }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        std::vector<hbf_region> scrubbed;
        {
            std::lock_guard lock(mutex_);
            ++submits_;
            std::erase_if(due_, [&](const auto &one) {
                if (one.second > submits_) return false;
                scrubbed.push_back(one.first);
                return true;
            });
        }
        for (const hbf_region region : scrubbed) {
            const auto info = device().regions().find(region);
            const std::vector<std::byte> zeros(std::min<uint64_t>(info ? info->size : 0, settings().number("bytes")));
            if (!zeros.empty()) device().touch().write(region, info->size - zeros.size(), zeros);
        }
        return below_->submit(queue, batch, out_value, e);
    }

private:
    std::mutex mutex_;
    uint64_t submits_ = 0;
    std::map<uint32_t, uint64_t> freed_; // regions by tier whose scrubbing is to come
    std::map<hbf_region, uint64_t> due_; // at which submit
};
HBF_FAULT(LateScrub, "late-scrub", "the memory of a freed region is cleared when it is another region's already",
          parameter::tier, {.key = "submits", .preset = "2", .line = "batches after it was given out again"},
          {.key = "bytes", .preset = "64", .line = "so many at its end"});

} // namespace
} // namespace hbf::inject
