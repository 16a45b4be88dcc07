// SPDX-License-Identifier: Apache-2.0
#include "core/engine/attention/device_place.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/common/guarded.hpp"
#include "core/engine/attention/kept.hpp"
#include "core/engine/trace/trace.hpp"
#include "kernels/device/attention.h"
#include "kernels/host/attention/attention.hpp"

namespace hbf::kv {
namespace {

constexpr uint64_t align = 4096;
constexpr uint64_t query_bytes = uint64_t{HBF_KV_MAX_HEADS} * HBF_KV_MAX_DIM * sizeof(float);

uint64_t padded(uint64_t size) {
    return (size + align - 1) / align * align;
}

} // namespace

DevicePlace::DevicePlace(Device device, const DevicePlaceOptions &options) : device_(std::move(device)), options_(options) {
    const uint64_t table = padded(uint64_t{options.window} * sizeof(kv_block));
    parts_ = {0, {query_bytes, query_bytes + table}, {}, 0, {}, {}, 0};
    parts_.results[0] = query_bytes + 2 * table, parts_.results[1] = parts_.results[0] + padded(options.scratch);
    parts_.size = parts_.results[1] + padded(options.scratch);
    parts_.size_of_host = parts_.size;
    for (const uint32_t slot : {0, 1}) {
        parts_.sent[slot] = parts_.size_of_host;
        parts_.again[slot] = parts_.sent[slot] + query_bytes + table;
        parts_.size_of_host = parts_.again[slot] + padded(options.scratch);
    }
}

Result<std::unique_ptr<DevicePlace>> DevicePlace::open(const Device &device, Region kv, const DevicePlaceOptions &options) {
    if (options.window == 0 || options.groups == 0 || options.group_size == 0 || options.scratch < align)
        return fail(Code::invalid, "a launch must have a block, a group, a work-item and a page for results at least");
    const auto kernel = device.find_kernel("attention/1");
    if (!kernel) return tl::unexpected(kernel.error());
    std::unique_ptr<DevicePlace> place(new DevicePlace(device, options));
    if (const auto added = place->add(kv); !added) return tl::unexpected(added.error());
    place->kernel_ = kernel->kernel;
    if (auto taken = place->take_memory(); !taken) return tl::unexpected(taken.error());
    return place;
}

Result<uint64_t> DevicePlace::add(Region kv) {
    for (size_t i = 0; i < kv_.size(); ++i)
        if (kv_[i].region == kv) return uint64_t{i} << region_shift;
    const auto info = device_.describe(kv);
    if (!info) return tl::unexpected(info.error());
    if (info->tier >= device_.tiers().size() || !device_.tiers()[info->tier].device_access)
        return fail(Code::unsupported,
                    fmt::format("processors of device {} do not reach the memory that the blocks are in", device_.id()));
    if (info->size >> region_shift != 0 || kv_.size() >> (63 - region_shift) != 0)
        return fail(Code::unsupported, "a region of 16 TiB or more, or half a million of them");
    if (kv_.empty()) tier_ = info->tier;
    kv_.push_back({kv, info->size});
    return uint64_t{kv_.size() - 1} << region_shift;
}

Result<> DevicePlace::check(const kv_shape &shape, std::span<const kv_block> blocks) const {
    if (const char *reason = kernels::attention_refused(shape)) return fail(Code::invalid, reason);
    for (const kv_block &block : blocks) {
        const uint64_t number = block.offset >> region_shift;
        const kv_block inside{block.offset & ((uint64_t{1} << region_shift) - 1), block.tokens, 0};
        if (number >= kv_.size()) return fail(Code::invalid, fmt::format("there is no region {}", number), block.offset);
        if (auto checked = check_blocks(shape, {&inside, 1}, kv_[number].size); !checked) return checked;
    }
    return {};
}

// On the device beside the blocks, and once more where the CPU can write and read it.
Result<> DevicePlace::take_memory() {
    auto there = device_.allocate(tier_, parts_.size);
    if (!there) return tl::unexpected(there.error());
    on_device_ = *there;
    auto memory = HostMemory::take(parts_.size_of_host);
    if (!memory) return tl::unexpected(memory.error());
    memory_ = std::move(*memory);
    auto here = device_.register_host(memory_.bytes());
    if (!here) { // some devices have host memory of their own instead
        memory_ = HostMemory();
        for (const TierInfo &tier : device_.tiers())
            if (!here && tier.cpu_access && tier.dma_access) here = device_.allocate(tier.index, parts_.size_of_host);
    }
    if (!here) return tl::unexpected(here.error());
    on_host_ = *here;
    if (on_host_.address == nullptr) on_host_.address = memory_.bytes().data();
    auto queue = device_.create_queue();
    if (!queue) return tl::unexpected(queue.error());
    queue_ = std::move(*queue);
    return {};
}

DevicePlace::~DevicePlace() {
    abandon();
    if (stuck_) {
        keep_for_ever(std::move(queue_));
        keep_for_ever(std::move(memory_));
        return;
    }
    queue_ = Queue();
    if (on_host_.region) (void)device_.free(on_host_.region);
    if (on_device_.region) (void)device_.free(on_device_.region);
}

uint64_t DevicePlace::results_of_block() const {
    return uint64_t{shape_.query_heads} * (2 + shape_.head_dim) * sizeof(float);
}

Result<> DevicePlace::begin(const kv_shape &shape, const float *query, std::span<const kv_block> blocks) {
    if (auto checked = check(shape, blocks); !checked) return checked;
    return guarded([&] { return send_query(shape, query, blocks); });
}

Result<> DevicePlace::send_query(const kv_shape &shape, const float *query, std::span<const kv_block> blocks) {
    if (used_ != 0) abandon(); // the caller forgot to
    if (stuck_) return fail(Code::timeout, fmt::format("device {} has not completed what was asked of it", device_.id()));
    if (!queue_.poisoned()) {
        auto queue = device_.create_queue();
        if (!queue) return tl::unexpected(queue.error());
        queue_ = std::move(*queue);
    }
    shape_ = shape, blocks_ = blocks;
    in_window_ = static_cast<uint32_t>(std::min<uint64_t>(options_.scratch / results_of_block(), options_.window));
    if (in_window_ == 0)
        return fail(Code::invalid, fmt::format("results of a block need {} bytes, there are {} on the device",
                                               results_of_block(), options_.scratch));
    const uint64_t size = uint64_t{shape.query_heads} * shape.head_dim * sizeof(float);
    std::memcpy(on_host_.address + parts_.query, query, size);
    if (auto told = device_.written_by_cpu(on_host_.region, parts_.query, size); !told) return told;
    batch_.clear();
    batch_.copy(on_device_.region, parts_.query, on_host_.region, parts_.query, size);
    if (const auto point = queue_.submit(batch_); !point) return tl::unexpected(point.error());
    work_.bytes_in += size;
    return launch_ahead();
}

Result<> DevicePlace::launch_ahead() {
    while (used_ < windows_.size() && !blocks_.empty())
        if (auto launched = launch((first_ + used_) % 2); !launched) return launched;
    return {};
}

Result<> DevicePlace::launch(uint32_t slot) {
    const uint64_t number = blocks_.front().offset >> region_shift; // neighbours in one region are a launch
    uint32_t count = 1;
    while (count < in_window_ && count < blocks_.size() && blocks_[count].offset >> region_shift == number) ++count;
    const Memory &kv = kv_[number];
    const Region there = on_device_.region, here = on_host_.region;
    const uint64_t table = parts_.table[slot], table_size = count * sizeof(kv_block), state = parts_.results[slot],
                   states = uint64_t{count} * shape_.query_heads * 2 * sizeof(float), output = state + states,
                   size = count * results_of_block();
    for (uint32_t i = 0; i < count; ++i) {
        const kv_block block{blocks_[i].offset - (number << region_shift), blocks_[i].tokens, 0};
        std::memcpy(on_host_.address + table + i * sizeof block, &block, sizeof block);
    }
    const uint64_t sent = parts_.sent[slot], again = parts_.again[slot],
                   query_size = uint64_t{shape_.query_heads} * shape_.head_dim * sizeof(float);
    std::memset(on_host_.address + sent, 0, query_size + table_size); // what was there before proves nothing
    std::memset(on_host_.address + state, 0x5a, size);
    std::memset(on_host_.address + again, 0xa5, size);
    for (const auto &[at, length] :
         {std::pair{table, table_size}, {sent, query_size + table_size}, {state, size}, {again, size}})
        if (auto told = device_.written_by_cpu(here, at, length); !told) return told;
    const kernels::device::attention_arguments arguments{kv.size, shape_, count, 0};
    const KernelBuffer buffers[] = {{kv.region, 0, kv.size, kernel_reads},
                                    {there, table, table_size, kernel_reads},
                                    {there, parts_.query, query_size, kernel_reads},
                                    {there, state, states, kernel_writes},
                                    {there, output, size - states, kernel_writes}};
    batch_.clear();
    batch_.copy(there, table, here, table, table_size).barrier();
    batch_.copy(here, sent, there, parts_.query, query_size)
        .copy(here, sent + query_size, there, table, table_size)
        .barrier();
    batch_.launch(kernel_, buffers, std::as_bytes(std::span(&arguments, 1)),
                  std::min(options_.groups, count * kernels::device::attention_chunks(shape_) * shape_.kv_heads),
                  std::min(options_.group_size, kernel_.max_group_size));
    batch_.barrier().copy(here, state, there, state, size).copy(here, again, there, state, size);
    const auto point = queue_.submit(batch_);
    if (!point) return tl::unexpected(point.error());
    windows_[slot] = {point->value, count};
    ++used_, ++work_.launches;
    blocks_ = blocks_.subspan(count);
    work_.kv_bytes += count * kernels::device::kv_block_size(shape_);
    work_.blocks += count, work_.bytes_in += table_size, work_.bytes_out += size;
    work_.bytes_again += query_size + table_size + size;
    return {};
}

bool DevicePlace::arrived_right(uint32_t slot) const {
    const std::byte *const memory = on_host_.address;
    const uint64_t query_size = uint64_t{shape_.query_heads} * shape_.head_dim * sizeof(float);
    const auto same = [&](uint64_t a, uint64_t b, uint64_t size) { return std::memcmp(memory + a, memory + b, size) == 0; };
    return same(parts_.sent[slot], parts_.query, query_size) &&
           same(parts_.sent[slot] + query_size, parts_.table[slot], windows_[slot].blocks * sizeof(kv_block)) &&
           same(parts_.results[slot], parts_.again[slot], windows_[slot].blocks * results_of_block());
}

Result<> DevicePlace::next(uint32_t count, float *state, float *output) {
    return guarded([&] { return take_results(count, state, output); });
}

Result<> DevicePlace::take_results(uint32_t count, float *state, float *output) {
    const size_t states = size_t{shape_.query_heads} * 2, numbers = size_t{shape_.query_heads} * shape_.head_dim;
    while (count != 0) {
        if (used_ == 0) return fail(Code::invalid, "more blocks were asked for than were named");
        const Window &window = windows_[first_];
        if (!arrived_) {
            const trace::Span span("wait for the device");
            if (const auto done = queue_.wait(window.value, options_.deadline); !done) return tl::unexpected(done.error());
            arrived_ = true;
            if (!arrived_right(first_))
                return fail(Code::data_loss, fmt::format("device {}: what went there to be attended, or came back, is not "
                                                         "what was sent",
                                                         device_.id()));
        }
        const auto *const results = reinterpret_cast<const float *>(on_host_.address + parts_.results[first_]);
        const uint32_t take = std::min(count, window.blocks - taken_);
        std::copy_n(results + taken_ * states, take * states, state);
        std::copy_n(results + window.blocks * states + taken_ * numbers, take * numbers, output);
        state += take * states, output += take * numbers, count -= take, taken_ += take;
        if (taken_ < window.blocks) continue;
        first_ = (first_ + 1) % 2, --used_, taken_ = 0, arrived_ = false;
        if (auto launched = launch_ahead(); !launched) return launched;
    }
    return {};
}

void DevicePlace::abandon() noexcept {
    for (; used_ != 0; --used_, first_ = (first_ + 1) % 2) {
        if (arrived_) {
            arrived_ = false;
            continue;
        }
        (void)queue_.cancel(windows_[first_].value);
        if (!stuck_) (void)queue_.wait(windows_[first_].value, options_.deadline);
        stuck_ = stuck_ || queue_.completed() < windows_[first_].value;
    }
    taken_ = 0;
    blocks_ = {};
}

} // namespace hbf::kv
