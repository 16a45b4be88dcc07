// SPDX-License-Identifier: Apache-2.0
// For tests: a device over plain memory that is honest, or lies in one named way.
#pragma once

#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "conformance/measure/target.hpp"

namespace hbf::measure {

enum class Lie {
    none,
    drop_write,   // reports success, moves nothing
    drop_granule, // one 64 KiB piece of a sample is not moved
    flip_bit,     // one bit of one move is wrong
    stale,        // delivers what the source held before
    misplace,     // a 64 KiB piece lands where another belongs
    fail,         // the value completes as failed
    lose,         // data_loss reported by the device itself
};

class LyingTarget : public Target {
public:
    LyingTarget() = default;
    explicit LyingTarget(LyingTarget *memory) : memory_(memory) {} // another queue over the memory of `memory`

    // Memory that the CPU reaches, or not (storage).
    Buffer make(uint64_t size, bool mapped = true) {
        auto &memory = memories_.emplace_back(size);
        memory.bytes.resize(size);
        memory.old.resize(size);
        const Region region{1, static_cast<uint32_t>(memories_.size()), 1};
        return {region, size, mapped ? memory.bytes.data() : nullptr, mapped ? 4096u : 0u};
    }

    Lie lie = Lie::none;
    uint64_t lie_from = 0;             // the first value that lies
    std::chrono::microseconds delay{}; // of each move
    bool early = false;                // says the gate held, and that the work is over as soon as it opens
    int holds = 0;                     // times the gate holds
    std::function<void()> on_submit;

    Result<uint64_t> submit(std::span<const Move> moves) override {
        if (on_submit) on_submit();
        ++value_;
        if (gate_closed_ && !early) {
            held_.assign(moves.begin(), moves.end());
            return value_;
        }
        for (const auto &move : moves) perform(move);
        return value_;
    }

    uint64_t completed() override { return value_; }

    Result<> wait(uint64_t) override {
        const bool lies = value_ >= lie_from;
        if (lies && lie == Lie::fail) return hbf::fail(Code::device_lost, "the device is gone");
        if (lies && lie == Lie::lose) return hbf::fail(Code::data_loss, "checksum of a granule", 65536);
        return {};
    }

    Result<> written_by_cpu(const Buffer &buffer, uint64_t, uint64_t) override {
        // What the device would still have in its own cache.
        auto &memory = of(buffer.region);
        memory.old.swap(memory.shadow);
        memory.shadow.assign(memory.bytes.begin(), memory.bytes.end());
        memory.old.resize(memory.bytes.size());
        return {};
    }

    Result<ReadFindings> take_findings() override { return std::exchange(findings_, {}); }

    void close_gate() override { gate_closed_ = early || holds > 0; }

    std::optional<Clock::time_point> open_gate() override {
        if (!gate_closed_) return std::nullopt;
        gate_closed_ = false;
        if (holds > 0) --holds;
        const auto opened = Clock::now();
        for (const auto &move : held_) perform(move);
        held_.clear();
        return opened;
    }

private:
    struct Memory {
        explicit Memory(uint64_t) {}
        std::vector<std::byte> bytes, old, shadow;
    };

    void perform(const Move &move) {
        auto &dst = of(move.dst);
        auto &src = of(move.src);
        const bool lies = value_ >= lie_from;
        auto *to = dst.bytes.data() + move.dst_offset;
        const auto *from = src.bytes.data() + move.src_offset;
        if (delay.count() > 0) std::this_thread::sleep_for(delay);
        if (lies && lie == Lie::drop_write) return;
        if (move.work == Work::kernel_read) return read(move, src.bytes.data(), lies);
        if (lies && lie == Lie::stale) from = src.old.data() + move.src_offset;
        std::memcpy(to, from, move.size);
        const bool marked = move.dst_offset <= target_offset_ && target_offset_ < move.dst_offset + move.size;
        if (!lies || !marked) return;
        auto *there = dst.bytes.data() + target_offset_;
        if (lie == Lie::flip_bit) *there ^= std::byte{0x08};
        if (lie == Lie::drop_granule) std::memset(there, 0, std::min<uint64_t>(65536, dst.bytes.size() - target_offset_));
        if (lie == Lie::misplace) std::memcpy(there, src.bytes.data(), 65536);
    }

    void read(const Move &move, std::byte *bytes, bool lies) {
        if (lies && lie == Lie::flip_bit && move.src_offset == 0) bytes[target_offset_] ^= std::byte{0x08};
        const auto found = kernels::pattern_verify(bytes + move.src_offset, move.size, move.key, move.src_offset);
        findings_.checked_words += move.size / 8;
        if (found.wrong_words == 0) return;
        findings_.wrong_words += found.wrong_words;
        findings_.first_offset = move.src_offset + found.first_offset;
        findings_.expected = found.expected;
        findings_.actual = found.actual;
    }

    Memory &of(Region region) { return memory_->memories_[region.slot - 1]; }

    LyingTarget *memory_ = this;
    std::vector<Memory> memories_;
    std::vector<Move> held_;
    ReadFindings findings_;
    uint64_t value_ = 0;
    uint64_t target_offset_ = 3 * 65536 + 128;
    bool gate_closed_ = false;
};

} // namespace hbf::measure
