// SPDX-License-Identifier: Apache-2.0
// One launch of a kernel of the project with all that goes in, and what it must leave: what its host twin leaves.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/launch.hpp"

namespace hbf::conformance {

struct Scenario {
    struct Buffer {
        std::vector<std::byte> bytes; // before; a multiple of 8
        uint32_t access = 0;
        bool floats = false; // fp32 numbers, which a device may round otherwise
    };
    std::string_view kernel;
    std::string what; // "modulo 20, pass 3"
    std::vector<Buffer> buffers = {};
    std::vector<std::byte> arguments = {};
    std::array<uint32_t, 3> groups{1, 1, 1}, items{1, 1, 1};
};

// Work-items of a group, and so few sizes in all because some devices compile a kernel anew for each.
constexpr uint32_t usual_items = 64;

// Kernels for which there are scenarios, and those of one of them. `most_items`: of a group.
std::vector<std::string_view> scenario_kernels();
std::vector<Scenario> scenarios_of(std::string_view kernel, uint64_t seed, uint32_t most_items);

// All buffers after the twin.
std::vector<std::vector<std::byte>> run_twin(const Scenario &scenario);

// The scenario on the device: each buffer in a region of its own, with other bytes before and behind it.
class OnDevice {
public:
    static constexpr uint64_t guard = 264; // bytes, no line and no multiple of 16

    OnDevice(Context &context, ByteAccess &access, const Scenario &scenario, const hbf_kernel_info &kernel, uint32_t tier);
    void run(hbf_queue *queue);

    const hbf_region_info &region(size_t buffer) const { return made_[buffer]; }
    std::vector<std::byte> after(size_t buffer) const;       // its own bytes
    std::vector<std::byte> whole_after(size_t buffer) const; // those around it too
    const std::vector<std::byte> &whole_before(size_t buffer) const { return before_[buffer]; }

private:
    const Instance &device_;
    ByteAccess &access_;
    const Scenario &scenario_;
    Regions regions_;
    std::vector<hbf_region_info> made_;
    std::vector<std::vector<std::byte>> before_;
    Launch launch_;
};

template <class T>
std::vector<std::byte> bytes_of(const T &value) {
    const auto *const begin = reinterpret_cast<const std::byte *>(&value);
    return {begin, begin + sizeof value};
}
std::vector<std::byte> random_bytes(uint64_t seed, uint64_t size);

// A file each.
namespace scenario {
void samples(std::vector<Scenario> &out, std::string_view kernel, uint32_t most_items);
void memory(std::vector<Scenario> &out, std::string_view kernel, uint64_t seed, uint32_t most_items);
void patterns(std::vector<Scenario> &out, std::string_view kernel, uint64_t seed, uint32_t most_items);
void blocks(std::vector<Scenario> &out, std::string_view kernel, uint64_t seed, uint32_t most_items);
} // namespace scenario

} // namespace hbf::conformance
