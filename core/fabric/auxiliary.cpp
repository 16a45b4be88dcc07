// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/auxiliary.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

#include "core/fabric/host_log.hpp"

namespace hbf::fabric {

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
    made->commands_ = std::min(device->queue_info.max_commands, 256u);
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
    if (bounce_ != 0) device->tier_ext->free(device->instance, bounce_, error.out());
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

uint32_t Auxiliary::send(const Op *ops, uint32_t count, uint32_t *crc, const std::byte *arguments, uint64_t *value,
                         hbf_status *status, hbf_error *error) noexcept {
    const Translated made = translate(ops, count, nullptr, crc, arguments, abi_.data(), commands_);
    const hbf_batch batch{sizeof(batch), sizeof(hbf_command), abi_.data(), made.commands};
    *status = ext_->submit(queue_, &batch, value, error);
    if (*status != HBF_OK) return 0;
    ++submitted_;
    *value = submitted_; // a plugin that counts otherwise is found out by look
    return made.ops;
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
