// SPDX-License-Identifier: Apache-2.0
// A region and what its bytes must be. Every command goes to the device and, by the book, to the model; then the whole of
// both is compared, so that a byte beside the range counts as much as one in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {

// Memory of a case by tier; HBF_TIER_NONE: the caller's own memory, registered.
class Buffers {
public:
    explicit Buffers(const Instance &device) : device_(&device) {}
    ~Buffers(); // frees what free() accepts
    Buffers(const Buffers &) = delete;
    Buffers &operator=(const Buffers &) = delete;
    hbf_region_info make(uint32_t tier, uint64_t size);

private:
    struct Made {
        hbf_region region;
        void *memory;
        uint64_t size;
    };
    const Instance *device_;
    std::vector<Made> made_;
};

class Model {
public:
    // What a command of the batch at hand did to this region.
    struct Write {
        uint64_t offset, size;
        std::string what; // "copy 17 of the batch, 311 bytes from dram0+0x40"
        const Model *source = nullptr;
        uint64_t source_offset = 0;
    };

    // `name` is what reports call it: "dram0", "the source in storage0". The access and the region outlive the model.
    Model(ByteAccess &access, const hbf_region_info &region, std::string name, std::string tier);

    const hbf_region_info &region() const { return *region_; }
    uint64_t size() const { return bytes_.size(); }
    const std::string &name() const { return name_; }
    const std::vector<std::byte> &bytes() const { return bytes_; }

    // Address-hash bytes of `seed` and `generation` all over, put there outside the test's own commands.
    void load(uint64_t seed, uint32_t generation);

    // A command for the device, done to the model at once. Commands of one batch must not conflict.
    hbf_command copy_from(uint64_t offset, const Model &source, uint64_t source_offset, uint64_t size);
    hbf_command fill(uint64_t offset, uint64_t size, uint64_t pattern, uint32_t pattern_size);

    // Compares the whole region. Counts one check; a difference fails the case, its evidence saying what kind it is.
    // `when` goes into the sentence: "after batch 3, seed 0x12".
    void verify(Context &context, std::string_view when);
    void forget_writes(); // the batch is over and right

private:
    friend Evidence explain(const Model &model, const std::vector<std::byte> &actual, uint64_t first);

    ByteAccess *access_;
    const hbf_region_info *region_;
    std::string name_, tier_;
    std::vector<std::byte> bytes_, before_, older_; // now; when the batch at hand began; before the batch or load before it
    std::vector<Write> writes_;
};

// What is wrong with `actual`, whose first wrong byte is at `first`: class, place and a sentence. [pure]
Evidence explain(const Model &model, const std::vector<std::byte> &actual, uint64_t first);

// Runs commands in batches of at most `most`, waits for each.
void run_batches(const Instance &device, hbf_queue *queue, const std::vector<hbf_command> &commands, uint64_t most);
// Runs them, then compares both models, the destination first.
void run_and_verify(Context &context, hbf_queue *queue, const std::vector<hbf_command> &commands, uint64_t most,
                    Model &destination, Model &source, std::string_view when);

// As many commands in a batch as the plugin takes, but no more than `wanted`.
uint32_t commands_of(const Instance &device, uint32_t wanted);

} // namespace hbf::conformance
