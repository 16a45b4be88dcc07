// SPDX-License-Identifier: Apache-2.0
// Puts bytes into any region and takes them out: through its mapping where there is one, with flush and invalidate where its
// domain is software, else by commands through a staging region. For what is not under test; the copy under test is a
// command of the case's own.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "conformance/suite/device.hpp"

namespace hbf::conformance {

class ByteAccess {
public:
    explicit ByteAccess(const Instance &device); // makes a queue and, when one is needed, a staging region
    ~ByteAccess();
    ByteAccess(const ByteAccess &) = delete;
    ByteAccess &operator=(const ByteAccess &) = delete;

    void write(const hbf_region_info &region, uint64_t offset, std::span<const std::byte> bytes);
    void read(const hbf_region_info &region, uint64_t offset, std::span<std::byte> bytes);
    std::vector<std::byte> read(const hbf_region_info &region, uint64_t offset, uint64_t size);
    hbf_queue *queue() const { return queue_; }

    // After CPU stores into a mapping, before the device reads; and the other way about. Nothing in hardware domains.
    void publish(const hbf_region_info &region, uint64_t offset, uint64_t size);
    void refresh(const hbf_region_info &region, uint64_t offset, uint64_t size);

private:
    const hbf_region_info &staging();
    const Instance *device_;
    hbf_queue *queue_ = nullptr;
    hbf_region_info staging_{};
};

// Regions of a case, freed with it.
class Regions {
public:
    explicit Regions(const Instance &device) : device_(&device) {}
    ~Regions(); // frees what free() accepts, silently: the case has its verdict by then
    Regions(const Regions &) = delete;
    Regions &operator=(const Regions &) = delete;
    hbf_region_info make(uint32_t tier, uint64_t size, uint64_t alignment = 0);

private:
    const Instance *device_;
    std::vector<hbf_region> regions_;
};

// A queue of a case: drained and destroyed with it.
class Queue {
public:
    explicit Queue(const Instance &device, uint32_t depth = 0, uint32_t commands = 0);
    ~Queue();
    Queue(const Queue &) = delete;
    Queue &operator=(const Queue &) = delete;
    operator hbf_queue *() const { return queue_; }

private:
    const Instance *device_;
    hbf_queue *queue_;
};

hbf_command copy_command(hbf_region dst, uint64_t dst_offset, hbf_region src, uint64_t src_offset, uint64_t size,
                         uint32_t *crc = nullptr); // with crc: HBF_COPY_CRC32C
hbf_command fill_command(hbf_region dst, uint64_t offset, uint64_t size, uint64_t pattern, uint32_t pattern_size);
hbf_command flush_command(hbf_region region, uint64_t offset, uint64_t size);
hbf_command invalidate_command(hbf_region region, uint64_t offset, uint64_t size);
hbf_command wait_command(hbf_queue *queue, uint64_t value);
hbf_command barrier_command();

} // namespace hbf::conformance
