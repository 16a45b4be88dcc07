// SPDX-License-Identifier: Apache-2.0
// A plain ring: no SINGLE_ISSUER and no COOP_TASKRUN, because any thread that waits for a queue drives its channel, and a
// ring so set up refuses or starves every thread but one.
#include "uring_engine.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <liburing.h>

#include "io_error.hpp"
#include "pinned_buffers.hpp"

namespace hbf::host {
namespace {

std::string refusal(int error) {
    int disabled = 0;
    std::ifstream("/proc/sys/kernel/io_uring_disabled") >> disabled;
    if (error == EPERM && disabled == 2) return "io_uring is switched off (kernel.io_uring_disabled=2)";
    if (error == EPERM && disabled == 1) return "io_uring is kept from unprivileged users (kernel.io_uring_disabled=1)";
    if (error == EPERM || error == EACCES) return "io_uring is refused to this process (a seccomp filter, as in containers)";
    if (error == ENOSYS) return "this kernel has no io_uring";
    if (error == ENOMEM) return "no memory for an io_uring (memlock limit of older kernels?)";
    return fmt::format("io_uring cannot be set up: {}", std::strerror(error));
}

class UringEngine final : public Engine, private BufferRegistrar {
public:
    explicit UringEngine(uint32_t capacity) : capacity_(capacity), outstanding_(capacity, false) {
        io_uring_params params{};
        if (int error = ::io_uring_queue_init_params(capacity, &ring_, &params); error < 0)
            sdk::fail(error == -ENOSYS ? HBF_UNSUPPORTED : status_of_errno(-error), refusal(-error));
        // EXT_ARG (5.11): a wait with a time limit that posts nothing to the ring. NODROP: completions are never lost.
        if (!(params.features & IORING_FEAT_EXT_ARG) || !(params.features & IORING_FEAT_NODROP)) {
            ::io_uring_queue_exit(&ring_);
            sdk::fail(HBF_UNSUPPORTED, "the io_uring of this kernel is older than 5.11");
        }
        if (::io_uring_register_buffers_sparse(&ring_, PinnedBuffers::slots) == 0) buffers_.enable(*this, pinned_limit());
    }
    ~UringEngine() override { ::io_uring_queue_exit(&ring_); }

    uint32_t capacity() const override { return capacity_; }

    void push(const IoRequest &request) override {
        outstanding_[request.id] = true;
        io_uring_sqe *sqe = ::io_uring_get_sqe(&ring_);
        if (!sqe) { // the ring is as deep as capacity: only after a failed submit
            flush();
            sqe = ::io_uring_get_sqe(&ring_);
            if (!sqe) return give_up(EBUSY);
        }
        int slot = buffers_.find(request.data, request.size);
        if (slot >= 0 && request.write)
            ::io_uring_prep_write_fixed(sqe, request.fd, request.data, request.size, request.offset, slot);
        else if (slot >= 0)
            ::io_uring_prep_read_fixed(sqe, request.fd, request.data, request.size, request.offset, slot);
        else if (request.write)
            ::io_uring_prep_write(sqe, request.fd, request.data, request.size, request.offset);
        else
            ::io_uring_prep_read(sqe, request.fd, request.data, request.size, request.offset);
        ::io_uring_sqe_set_data64(sqe, request.id);
    }

    void flush() override {
        while (!broken_ && ::io_uring_sq_ready(&ring_) > 0) {
            int submitted = ::io_uring_submit(&ring_);
            if (submitted >= 0) continue;
            if (submitted == -EAGAIN || submitted == -EBUSY) return; // the kernel is short of something: reap tries again
            if (submitted != -EINTR) return give_up(-submitted);
        }
    }

    size_t reap(std::span<IoDone> out, uint64_t timeout_ns) override {
        flush();
        size_t count = take(out);
        if (count > 0 || timeout_ns == 0 || broken_) return count;
        constexpr uint64_t longest = 3600ull * 1000000000ull; // the caller comes again
        uint64_t limit = std::min(timeout_ns, longest);
        __kernel_timespec time{static_cast<int64_t>(limit / 1000000000), static_cast<long long>(limit % 1000000000)};
        io_uring_cqe *cqe = nullptr;
        int error = ::io_uring_submit_and_wait_timeout(&ring_, &cqe, 1, &time, nullptr);
        if (error < 0 && error != -ETIME && error != -EINTR && error != -EAGAIN && error != -EBUSY) give_up(-error);
        return take(out);
    }

    uint64_t add_buffer(std::byte *address, uint64_t size) override { return buffers_.add(address, size); }
    void remove_buffer(std::byte *address) noexcept override { buffers_.remove(address); }

private:
    size_t take(std::span<IoDone> out) {
        size_t count = 0;
        io_uring_cqe *cqe = nullptr;
        while (!broken_ && count < out.size() && ::io_uring_peek_cqe(&ring_, &cqe) == 0) {
            out[count] = {static_cast<uint32_t>(::io_uring_cqe_get_data64(cqe)), cqe->res};
            outstanding_[out[count].id] = false;
            ::io_uring_cqe_seen(&ring_, cqe);
            ++count;
        }
        for (uint32_t id = 0; broken_ && count < out.size() && id < capacity_; ++id) {
            if (!outstanding_[id]) continue;
            outstanding_[id] = false;
            out[count++] = {id, -broken_};
        }
        return count;
    }

    // The ring itself is unusable (its descriptor was closed under us): everything outstanding fails, nothing hangs.
    void give_up(int error) {
        if (!broken_) broken_ = error;
    }

    // Slots are changed by io_uring_register, which the kernel orders against running requests.
    int set_slot(unsigned slot, std::byte *address, uint64_t size) noexcept override {
        iovec vector{address, size};
        __u64 tag = 0;
        int done = ::io_uring_register_buffers_update_tag(&ring_, slot, &vector, &tag, 1);
        return done < 0 ? done : 0;
    }

    uint32_t capacity_;
    io_uring ring_{};
    std::vector<bool> outstanding_;
    int broken_ = 0; // errno
    PinnedBuffers buffers_;
};

} // namespace

std::unique_ptr<Engine> make_uring_engine(uint32_t capacity) {
    return std::make_unique<UringEngine>(capacity);
}

} // namespace hbf::host
