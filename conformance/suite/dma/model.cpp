// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/dma/model.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "conformance/suite/dma/finding.hpp"
#include "kernels/host/pattern.hpp"

namespace hbf::conformance {

Buffers::~Buffers() {
    for (auto made = made_.rbegin(); made != made_.rend(); ++made) {
        const bool freed = device_->free(made->region).ok();
        if (freed) std::free(made->memory); // a region that would not go may still be written to
    }
}

hbf_region_info Buffers::make(uint32_t tier, uint64_t size) {
    if (tier != HBF_TIER_NONE) {
        const hbf_region_info out = device_->must_alloc(tier, size);
        made_.push_back({out.region, nullptr, size});
        return out;
    }
    constexpr uint64_t page = 65536; // of any machine
    const uint64_t whole = (size + page - 1) / page * page;
    std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(page, whole), &std::free);
    if (!memory) throw std::bad_alloc();
    std::memset(memory.get(), 0, whole);
    hbf_region_info out{};
    must(device_->register_host(memory.get(), size, out), "register_host of {} bytes, which the plugin declares", size);
    made_.push_back({out.region, memory.get(), size});
    if (!out.address) out.address = memory.get(); // the caller's memory stays the caller's
    memory.release();
    return out;
}

Model::Model(ByteAccess &access, const hbf_region_info &region, std::string name, std::string tier)
    : access_(&access), region_(&region), name_(std::move(name)), tier_(std::move(tier)), bytes_(region.size) {}

void Model::load(uint64_t seed, uint32_t generation) {
    const kernels::PatternKey key{static_cast<uint32_t>(seed ^ (seed >> 32)), generation};
    const uint64_t whole = bytes_.size() / 4 * 4;
    kernels::pattern_fill(bytes_.data(), whole, key, 0);
    if (whole < bytes_.size()) {
        const uint32_t last = kernels::pattern_word(key, whole);
        std::memcpy(bytes_.data() + whole, &last, bytes_.size() - whole);
    }
    access_->write(*region_, 0, bytes_);
    writes_.clear();
    older_ = std::exchange(before_, bytes_);
}

hbf_command Model::copy_from(uint64_t offset, const Model &source, uint64_t source_offset, uint64_t size) {
    std::memcpy(bytes_.data() + offset, source.bytes_.data() + source_offset, size);
    writes_.push_back({offset, size,
                       fmt::format("copy {} of {} bytes to {}+{:#x} from {}+{:#x}", writes_.size(), size, name_, offset,
                                   source.name_, source_offset),
                       &source, source_offset});
    return copy_command(region_->region, offset, source.region_->region, source_offset, size);
}

hbf_command Model::fill(uint64_t offset, uint64_t size, uint64_t pattern, uint32_t pattern_size) {
    for (uint64_t i = 0; i < size; ++i) {
        bytes_[offset + i] = static_cast<std::byte>(pattern >> (8 * (i % pattern_size)));
    }
    writes_.push_back(
        {offset, size,
         fmt::format("fill {} of {} bytes by {} at {}+{:#x}", writes_.size(), size, pattern_size, name_, offset)});
    return fill_command(region_->region, offset, size, pattern, pattern_size);
}

void Model::verify(Context &context, std::string_view when) {
    context.count_check();
    const std::vector<std::byte> actual = access_->read(*region_, 0, bytes_.size());
    if (actual == bytes_) return;
    const auto at = std::mismatch(actual.begin(), actual.end(), bytes_.begin()).first - actual.begin();
    Evidence evidence = explain(*this, actual, static_cast<uint64_t>(at));
    evidence.detail = fmt::format("{}: {}", when, evidence.detail);
    fail_with(std::move(evidence));
}

void Model::forget_writes() {
    writes_.clear();
    older_ = std::exchange(before_, bytes_);
}

void run_batches(const Instance &device, hbf_queue *queue, const std::vector<hbf_command> &commands, uint64_t most) {
    uint64_t value = 0;
    for (uint64_t done = 0; done < commands.size();) {
        const uint64_t count = std::min<uint64_t>(most, commands.size() - done);
        const auto begin = commands.begin() + static_cast<std::ptrdiff_t>(done);
        value = device.must_submit(queue, std::vector(begin, begin + static_cast<std::ptrdiff_t>(count)));
        device.must_complete(queue, value);
        done += count;
    }
}

void run_and_verify(Context &context, hbf_queue *queue, const std::vector<hbf_command> &commands, uint64_t most,
                    Model &destination, Model &source, std::string_view when) {
    run_batches(context.device(), queue, commands, most);
    destination.verify(context, when);
    source.verify(context, when);
    destination.forget_writes();
    source.forget_writes();
}

uint32_t commands_of(const Instance &device, uint32_t wanted) {
    return std::max(1u, std::min(wanted, device.queue_info().max_commands));
}

} // namespace hbf::conformance
