// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/auxiliary.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

#include "core/fabric/host_log.hpp"

namespace hbf::fabric {
namespace {

constexpr uint64_t words_half = CrcKernel::most_pieces * sizeof(uint32_t);

} // namespace

Bounce::~Bounce() {
    if (memory_ != nullptr) munmap(memory_, 2 * half);
}

Result<> Bounce::make() {
    if (memory_ != nullptr) return {};
    void *memory = mmap(nullptr, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED)
        return fail(Code::exhausted, fmt::format("no memory for staging buffers: {}", std::strerror(errno)));
    memory_ = static_cast<std::byte *>(memory);
    if (mlock(memory, 2 * half) != 0) {
        pin_error_ = errno;
        log_line(HBF_LOG_INFO, "fabric", "staging buffers are not pinned: RLIMIT_MEMLOCK");
    }
    return {};
}

std::string Bounce::describe() const {
    if (memory_ == nullptr) return {};
    const std::string size = fmt::format("2 x {} KiB", half / 1024);
    return pin_error_ == 0 ? size + ", pinned" : fmt::format("{}, not pinned: {}", size, std::strerror(pin_error_));
}

Result<std::unique_ptr<Auxiliary>> Auxiliary::create(const std::shared_ptr<DeviceCore> &device) {
    std::unique_ptr<Auxiliary> made(new Auxiliary);
    made->device_ = device;
    made->ext_ = device->queue_ext;
    made->number_ = device->number;
    made->depth_ = std::min(device->queue_info.max_depth, 8u);
    made->commands_ = std::min(device->queue_info.max_commands, most_commands);
    if (device->has_software_domain && made->commands_ < commands_per_op + commands_per_run)
        return fail(Code::unsupported,
                    fmt::format("{} takes too few commands in a batch for explicit coherence", device->label()));
    made->abi_.resize(made->commands_);
    const hbf_queue_desc desc{sizeof(desc), made->depth_, made->commands_, 0};
    AbiError error;
    const hbf_status status = made->ext_->create(device->instance, &desc, &made->queue_, error.out());
    if (status != HBF_OK || made->queue_ == nullptr) {
        made->queue_ = nullptr;
        return tl::unexpected(error.to_error(status, fmt::format("{}: creating an internal queue", device->label())));
    }
    return made;
}

Auxiliary::~Auxiliary() {
    const auto device = device_.lock();
    if (!device) return; // the instance took them with it
    AbiError error;
    if (queue_ != nullptr) ext_->destroy(queue_, error.out());
    for (const hbf_region region : {bounce_, words_})
        if (region != 0) device->tier_ext->free(device->instance, region, error.out());
}

Result<> Auxiliary::attach(const Bounce &bounce) {
    if (bounce_ != 0) return {};
    const auto device = device_.lock();
    if (!device || !device->can_register())
        return fail(Code::unsupported,
                    fmt::format("{} cannot register host memory, which staging needs", device ? device->label() : ""));
    hbf_region_info info{};
    info.struct_size = sizeof(info);
    AbiError error;
    const hbf_status status =
        device->tier_ext->register_host(device->instance, bounce.data(0), 2 * Bounce::half, &info, error.out());
    if (status != HBF_OK)
        return tl::unexpected(error.to_error(status, fmt::format("{}: registering staging buffers", device->label())));
    bounce_ = info.region;
    return {};
}

Result<> Auxiliary::attach_checksums() {
    if (words_ != 0) return {};
    const auto device = device_.lock();
    crc_ = device ? device->crc_kernel() : nullptr;
    if (crc_ == nullptr) return fail(Code::internal, "a checksum kernel that is gone");
    const hbf_alloc_desc desc{sizeof(desc), crc_->tier, 2 * words_half, 0, HBF_PAGES_DEFAULT, 0, {nullptr, 0}};
    hbf_region_info info{};
    info.struct_size = sizeof(info);
    AbiError error;
    const hbf_status status = device->tier_ext->alloc(device->instance, &desc, &info, error.out());
    if (status != HBF_OK)
        return tl::unexpected(error.to_error(status, fmt::format("{}: memory for checksums", device->label())));
    words_ = info.region;
    mapped_words_ = static_cast<uint32_t *>(info.address);
    if (crc_->mapped && mapped_words_ == nullptr)
        return fail(Code::internal,
                    fmt::format("{}: a region without an address, in a tier that the CPU reaches", device->label()));
    return {};
}

hbf_status Auxiliary::revive() noexcept {
    const auto device = device_.lock();
    if (dead_ == HBF_OK || !device) return HBF_OK;
    const hbf_queue_desc desc{sizeof(desc), depth_, commands_, 0};
    AbiError error;
    hbf_queue *fresh = nullptr;
    const hbf_status status = ext_->create(device->instance, &desc, &fresh, error.out());
    if (status != HBF_OK) return status;
    queue_ = fresh;
    submitted_ = completed_ = 0;
    dead_ = HBF_OK;
    return HBF_OK;
}

uint32_t Auxiliary::send(const Op *ops, uint32_t count, OpData &data, uint64_t *value, hbf_status *status,
                         hbf_error *error) noexcept {
    const Translated made = translate(ops, count, data, abi_.data(), commands_);
    return send_commands(made.commands, value, status, error) ? made.ops : 0;
}

bool Auxiliary::send_commands(uint32_t commands, uint64_t *value, hbf_status *status, hbf_error *error) noexcept {
    const hbf_batch batch{sizeof(batch), sizeof(hbf_command), abi_.data(), commands};
    *status = ext_->submit(queue_, &batch, value, error);
    if (*status != HBF_OK) return false;
    ++submitted_;
    *value = submitted_; // a plugin that counts otherwise is found out by look
    return true;
}

bool Auxiliary::send_checksums(hbf_region region, uint64_t offset, uint64_t size, unsigned half, uint64_t *value,
                               hbf_status *status, hbf_error *error) noexcept {
    const uint64_t bytes = granules_in(size) * sizeof(uint32_t), begin = half * words_half;
    const hbf_kernel_buffer buffers[2] = {{region, offset, size, HBF_KERNEL_READS, 0},
                                          {words_, begin, (bytes + 7) / 8 * 8, HBF_KERNEL_WRITES, 0}};
    uint32_t count = 0;
    const auto next = [&](hbf_command_kind kind) -> hbf_command & {
        abi_[count] = {};
        abi_[count].kind = kind;
        return abi_[count++];
    };
    // Words that a kernel did not write must not be right by chance, because they were so before.
    if (crc_->mapped) {
        std::memset(mapped_words_ + begin / sizeof(uint32_t), 0xa5, bytes);
    } else {
        next(HBF_COMMAND_FILL).u.fill = {words_, begin, bytes, 0xa5, 1, 0};
        next(HBF_COMMAND_WAIT);
    }
    next(HBF_COMMAND_LAUNCH).u.launch = crc_launch(*crc_, buffers, size);
    if (!crc_->mapped) {
        next(HBF_COMMAND_WAIT);
        next(HBF_COMMAND_COPY).u.copy = {bounce_, half * Bounce::half, words_, begin, bytes, nullptr};
    }
    return send_commands(count, value, status, error);
}

const uint32_t *Auxiliary::words(unsigned half, const Bounce &bounce) const {
    return crc_->mapped ? mapped_words_ + half * words_half / sizeof(uint32_t)
                        : reinterpret_cast<const uint32_t *>(bounce.data(half));
}

hbf_status Auxiliary::look(hbf_error *error) noexcept {
    if (idle()) return HBF_OK;
    hbf_progress progress{sizeof(progress), HBF_OK, 0, 0};
    hbf_status status = ext_->poll(queue_, &progress);
    if (status == HBF_OK && progress.completed > submitted_) status = HBF_INTERNAL;
    if (status != HBF_OK) { // it cannot tell what became of the work: none will be waited for
        completed_ = submitted_;
        dead_ = status;
        return status;
    }
    completed_ = std::max(completed_, progress.completed);
    if (progress.failed == 0) return HBF_OK;
    if (dead_ == HBF_OK) {
        dead_ = progress.status == HBF_OK ? HBF_INTERNAL : progress.status;
        ext_->failure(queue_, error);
    }
    return dead_;
}

} // namespace hbf::fabric
