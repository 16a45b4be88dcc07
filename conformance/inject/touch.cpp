// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/touch.hpp"

#include <algorithm>
#include <cstring>

#include "conformance/inject/device.hpp"

namespace hbf::inject {
namespace {

hbf_command copy(hbf_region dst, uint64_t dst_offset, hbf_region src, uint64_t src_offset, uint64_t size) {
    hbf_command command{};
    command.kind = HBF_COMMAND_COPY;
    command.u.copy = {dst, dst_offset, src, src_offset, size, nullptr};
    return command;
}

hbf_command range(hbf_command_kind kind, hbf_region region, uint64_t size) {
    hbf_command command{};
    command.kind = kind;
    command.u.range = {region, 0, size};
    return command;
}

hbf_command barrier() {
    hbf_command command{};
    command.kind = HBF_COMMAND_WAIT;
    return command;
}

} // namespace

std::byte *Touch::mapped(hbf_region region, uint64_t offset, uint64_t size) {
    const auto info = device_.regions().find(region);
    if (!info || !info->address || offset > info->size || size > info->size - offset) return nullptr;
    if (info->tier != HBF_TIER_NONE && device_.software(info->tier)) return nullptr;
    return static_cast<std::byte *>(info->address) + offset;
}

bool Touch::read(hbf_region region, uint64_t offset, std::span<std::byte> bytes) {
    if (const std::byte *at = mapped(region, offset, bytes.size())) {
        std::memcpy(bytes.data(), at, bytes.size());
        return true;
    }
    std::lock_guard lock(mutex_);
    if (!ready()) return false;
    for (uint64_t done = 0; done < bytes.size();) {
        const uint64_t size = std::min<uint64_t>(bytes.size() - done, staging_.size);
        const hbf_command commands[] = {copy(staging_.region, 0, region, offset + done, size), barrier(),
                                        range(HBF_COMMAND_INVALIDATE, staging_.region, size)};
        if (!run(commands, staging_software_ ? 3 : 1)) return false;
        std::memcpy(bytes.data() + done, staging_.address, size);
        done += size;
    }
    return true;
}

bool Touch::write(hbf_region region, uint64_t offset, std::span<const std::byte> bytes) {
    if (std::byte *at = mapped(region, offset, bytes.size())) {
        std::memcpy(at, bytes.data(), bytes.size());
        return true;
    }
    std::lock_guard lock(mutex_);
    if (!ready()) return false;
    for (uint64_t done = 0; done < bytes.size();) {
        const uint64_t size = std::min<uint64_t>(bytes.size() - done, staging_.size);
        std::memcpy(staging_.address, bytes.data() + done, size);
        const hbf_command commands[] = {range(HBF_COMMAND_FLUSH, staging_.region, size), barrier(),
                                        copy(region, offset + done, staging_.region, 0, size)};
        if (!(staging_software_ ? run(commands, 3) : run(commands + 2, 1))) return false;
        done += size;
    }
    return true;
}

std::optional<std::vector<std::byte>> Touch::read(hbf_region region, uint64_t offset, uint64_t size) {
    std::vector<std::byte> bytes(size);
    if (!read(region, offset, bytes)) return std::nullopt;
    return bytes;
}

// A queue and a staging region, at first need: in a tier whose mapping agrees with the device, if there is one.
bool Touch::ready() {
    if (!queue_) {
        hbf_queue_desc desc{};
        desc.struct_size = sizeof desc;
        if (device_.queue_table().create(device_.instance(), &desc, &queue_, nullptr) != HBF_OK) {
            queue_ = nullptr;
            say("inject: no queue is left for reaching the bytes of a region: nothing was injected there");
            return false;
        }
    }
    for (const bool software : {false, true}) {
        for (uint32_t tier = 0; tier < device_.tiers().size() && !staging_.address; ++tier) {
            const uint32_t access = device_.tiers()[tier].access;
            if (!(access & HBF_ACCESS_CPU) || !(access & HBF_ACCESS_DMA) || device_.software(tier) != software) continue;
            hbf_alloc_desc desc{};
            desc.struct_size = sizeof desc;
            desc.tier = tier;
            desc.size = piece;
            staging_.struct_size = sizeof staging_;
            if (device_.tier_table().alloc(device_.instance(), &desc, &staging_, nullptr) != HBF_OK) staging_ = {};
            staging_software_ = software;
        }
    }
    if (!staging_.address) say("inject: no tier has room for a staging region: nothing was injected there");
    return staging_.address != nullptr;
}

bool Touch::run(const hbf_command *commands, uint64_t count) {
    hbf_batch batch{};
    batch.struct_size = sizeof batch;
    batch.command_stride = sizeof *commands;
    batch.commands = commands;
    batch.command_count = count;
    uint64_t value = 0;
    const hbf_queue_ext &table = device_.queue_table();
    hbf_progress progress{};
    progress.struct_size = sizeof progress;
    const bool good = table.submit(queue_, &batch, &value, nullptr) == HBF_OK &&
                      table.wait(queue_, value, UINT64_MAX, nullptr) == HBF_OK && table.poll(queue_, &progress) == HBF_OK;
    if (good && (progress.failed == 0 || progress.failed > value)) return true;
    say("inject: the device refused a copy of the wrapper's own: nothing was injected there");
    if (good && table.destroy(queue_, nullptr) == HBF_OK) queue_ = nullptr; // poisoned: the next one starts anew
    return false;
}

void Touch::say(const char *what) {
    const hbf_host_services *services = device_.services();
    if (services) services->log(services->context, HBF_LOG_WARNING, {what, std::strlen(what)});
}

void Touch::end() {
    std::lock_guard lock(mutex_);
    if (queue_) device_.queue_table().destroy(queue_, nullptr);
    if (staging_.region) device_.tier_table().free(device_.instance(), staging_.region, nullptr);
    queue_ = nullptr;
    staging_ = {};
}

} // namespace hbf::inject
