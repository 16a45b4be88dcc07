// SPDX-License-Identifier: Apache-2.0
// Test data written and compared by the device itself, with its kernels pattern_fill/1 and pattern_verify/1: at the speed of
// its memory, and nothing has to be copied out unless something is wrong.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "conformance/integrity/pattern.hpp"
#include "conformance/suite/bytes.hpp"
#include "conformance/suite/device.hpp"

namespace hbf::integrity {

// Who compares what arrived.
enum class VerifyBy : uint8_t {
    choice, // the device's kernel where the CPU has no address to look at, else the CPU
    host,   // the CPU, everywhere: bytes without an address are copied out
    kernel, // the device's kernel, wherever it reaches
};
std::string_view to_string(VerifyBy by); // "auto", "host", "kernel"
std::optional<VerifyBy> verify_by_from(std::string_view text);

struct DeviceFindings {
    uint64_t wrong_words = 0;              // 8 bytes each
    uint64_t first_offset = 0;             // in the region, of the first wrong word
    uint64_t expected = 0, actual = 0;     // of it
    std::array<uint64_t, 64> up{}, down{}; // wrong bits by place in the word: 0 -> 1, 1 -> 0
    std::string doubt;                     // not "": what it says makes no sense, so that it proves nothing
};

class DevicePattern {
public:
    // Looks for the kernels, which may build them. Trouble of the plugin's from here on is a conformance::Verdict.
    DevicePattern(const conformance::Instance &device, conformance::ByteAccess &access, hbf_queue *queue);

    const std::string &why_not() const { return why_not_; } // "": usable
    bool reaches(uint32_t tier) const;                      // both kernels and commands do
    bool can_fill() const { return fill_.kernel != 0; }

    // `content`: logical address of the bytes at `offset`. Offsets, sizes and addresses are multiples of 8.
    void fill(const hbf_region_info &region, const Datum &datum, uint64_t offset, uint64_t size, uint64_t content);
    DeviceFindings verify(const hbf_region_info &region, const Datum &due, uint64_t offset, uint64_t size, uint64_t content);

    // Before it is believed: 64 KiB at the start of the region are written by the host with one bit wrong, which the kernel
    // has to find, there and nowhere else; then without. "" or what it said instead. The region's bytes are not kept.
    std::string prove(const hbf_region_info &region, uint32_t seed);

private:
    void launch(const hbf_kernel_info &kernel, const hbf_kernel_buffer *buffers, uint32_t count, const Datum &datum,
                uint64_t size, uint64_t content, bool clear);
    uint32_t groups(uint64_t size) const;

    const conformance::Instance *device_;
    conformance::ByteAccess *access_;
    hbf_queue *queue_;
    conformance::Regions regions_;
    hbf_kernel_info verify_{}, fill_{};
    hbf_region_info results_{};
    std::string why_not_;
};

} // namespace hbf::integrity
