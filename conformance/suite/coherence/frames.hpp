// SPDX-License-Identifier: Apache-2.0
// A granule that migrates between frames while others use it, by the protocol any correct user of the ABI follows: copy,
// completion, switch, and the old frame is reused only when nobody holds it. What the cases find wrong is then the plugin's.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <optional>
#include <span>

#include "conformance/litmus/granule.hpp"
#include "conformance/suite/coherence/scene.hpp"

namespace hbf::conformance::coherence {

// Who may use which frame. One mover; any number of users.
class Leases {
public:
    static constexpr uint32_t none = UINT32_MAX, most_frames = 16;

    uint32_t take() noexcept; // the frame now in use, held until give(); none: the granule is being moved
    void give(uint32_t frame) noexcept {
        held_[frame].count.fetch_sub(1, std::memory_order_seq_cst);
        uses_.fetch_add(1, std::memory_order_relaxed);
    }

    void publish(uint32_t frame) noexcept { current_.store(frame, std::memory_order_seq_cst); }
    void close() noexcept { publish(none); }
    void drain(uint32_t frame) const noexcept; // until nobody holds it
    // The mover's: lets users finish so many turns between two moves. Without it they hardly ever find the granule at rest.
    void let_use(uint64_t turns = 1) const noexcept;

private:
    struct alignas(64) Count {
        std::atomic<uint32_t> count{0};
    };
    std::atomic<uint32_t> current_{none};
    std::array<Count, most_frames> held_;
    std::atomic<uint64_t> uses_{0};
};

// Frames of one granule each in tiers that the CPU maps, and a queue that moves between them.
class Frames {
public:
    Frames(const Instance &device, const std::vector<uint32_t> &tiers, uint32_t each, uint64_t size = litmus::granule_size);

    uint32_t count() const { return static_cast<uint32_t>(infos_.size()); }
    std::span<std::byte> bytes(uint32_t frame) const { return {at(infos_[frame], 0), size_}; }
    const hbf_region_info &info(uint32_t frame) const { return infos_[frame]; }
    Place place(uint32_t frame, uint64_t offset = 0) const { return {device_, &infos_[frame], offset}; }

    // All commands that take what the CPU sees in `from` to what it will see in `to`, and wait for their value.
    void move(uint32_t to, uint32_t from) const;
    // After stores of the CPU into a frame that an engine reads or writes next.
    void publish(uint32_t frame) const;

private:
    const Instance *device_;
    uint64_t size_;
    Regions regions_;
    Queue queue_;
    std::vector<hbf_region_info> infos_;
};

hbf_command flush_all(const hbf_region_info &region);
hbf_command invalidate_all(const hbf_region_info &region);
// Flush before and invalidate after, where the tiers' domains want it.
std::vector<hbf_command> move_commands(const Instance &device, const hbf_region_info &to, const hbf_region_info &from,
                                       uint64_t size);

// In a loop that waits for the other thread: spins for a while, since yielding at once on a busy machine means that the two
// never run together, then yields.
class Patience {
public:
    void wait() noexcept;

private:
    unsigned spins_ = 0;
};

using Over = std::atomic<bool>;
inline bool running(const Over &over) {
    return !over.load(std::memory_order_relaxed);
}
// Word `number` of a granule that others use too.
inline std::atomic_ref<uint64_t> word_at(std::span<std::byte> bytes, uint64_t number) {
    return std::atomic_ref<uint64_t>(*reinterpret_cast<uint64_t *>(bytes.data() + 8 * number));
}

// Two threads that end together, whichever ends first and however: mover(over) in one, user(over) in the other.
void run_beside(const std::function<void(Over &over)> &mover, const std::function<void(Over &over)> &user);

// Fails the case unless the granule is of one piece and `owner`'s, and of that version, if one is due. Returns its version.
uint64_t expect_whole(Context &context, const Place &place, const litmus::Reading &reading, uint64_t owner,
                      std::string_view what, std::optional<uint64_t> version = {});

inline constexpr uint64_t poison = 0xdead9015dead9015;

} // namespace hbf::conformance::coherence
