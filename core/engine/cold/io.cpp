// SPDX-License-Identifier: Apache-2.0
#include "core/engine/cold/io.hpp"

#include <bit>
#include <cerrno>
#include <cstring>
#include <deque>
#include <vector>

#include <fmt/format.h>
#ifdef HBF_HAVE_URING
#include <liburing.h>
#endif

namespace hbf::kv::cold {
namespace {

// Moves the rest of a request, of which `moved` bytes are done. 0 or errno.
int move_rest(const Calls &calls, const IoRequest &request, uint32_t moved) {
    while (moved < request.size) {
        std::byte *data = request.data + moved;
        const uint32_t size = request.size - moved;
        const int64_t count = request.write ? calls.write(request.fd, data, size, request.offset + moved)
                                            : calls.read(request.fd, data, size, request.offset + moved);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno;
        if (count == 0) return request.write ? ENOSPC : EIO; // the file ends where it should not
        moved += static_cast<uint32_t>(count);
    }
    return 0;
}

class OneByOne final : public Io {
public:
    OneByOne(uint32_t depth, const Calls &calls, std::string why) : depth_(depth), calls_(calls) { why_ = std::move(why); }
    uint32_t depth() const override { return depth_; }
    void begin(const IoRequest &request) override { done_.push_back({request.id, move_rest(calls_, request, 0)}); }
    size_t finish(std::span<IoDone> done, bool) override {
        size_t count = 0;
        for (; count < done.size() && !done_.empty(); done_.pop_front()) done[count++] = done_.front();
        return count;
    }

private:
    uint32_t depth_;
    const Calls &calls_;
    std::deque<IoDone> done_;
};

#ifdef HBF_HAVE_URING
class Uring final : public Io {
public:
    Uring(uint32_t depth, const Calls &calls) : calls_(calls), requests_(depth) {
        if (const int error = io_uring_queue_init(std::bit_ceil(depth), &ring_, 0); error < 0) {
            why_ = fmt::format("io_uring is refused: {}", std::strerror(-error));
            return;
        }
        open_ = true;
    }
    ~Uring() override {
        IoDone done[16];
        while (in_flight_ > 0 && broken_ == 0) (void)finish(done, true);
        if (open_) io_uring_queue_exit(&ring_); // waits for what a broken ring still holds
    }
    bool is_open() const { return open_; }
    uint32_t depth() const override { return static_cast<uint32_t>(requests_.size()); }

    void begin(const IoRequest &request) override {
        requests_[request.id] = {request, true};
        ++in_flight_;
        io_uring_sqe *sqe = io_uring_get_sqe(&ring_); // there is one: the ring is as deep as what may be in flight
        if (!sqe) return give_up(EBUSY);
        if (request.write)
            io_uring_prep_write(sqe, request.fd, request.data, request.size, request.offset);
        else
            io_uring_prep_read(sqe, request.fd, request.data, request.size, request.offset);
        io_uring_sqe_set_data64(sqe, request.id);
        ++unsubmitted_;
    }

    size_t finish(std::span<IoDone> done, bool wait) override {
        if (in_flight_ == 0) return 0;
        hand_over(false);
        size_t count = take(done);
        while (count == 0 && wait && in_flight_ > 0 && !done.empty()) {
            hand_over(true);
            count = take(done);
        }
        return count;
    }

private:
    struct Held {
        IoRequest request;
        bool in_flight = false;
    };

    void hand_over(bool wait) {
        if (broken_ != 0 || (unsubmitted_ == 0 && !wait)) return;
        const int submitted = wait ? io_uring_submit_and_wait(&ring_, 1) : io_uring_submit(&ring_);
        if (submitted >= 0)
            unsubmitted_ -= static_cast<uint32_t>(submitted);
        else if (submitted != -EINTR && submitted != -EAGAIN && submitted != -EBUSY)
            give_up(-submitted);
    }

    size_t take(std::span<IoDone> done) {
        size_t count = 0;
        io_uring_cqe *cqe = nullptr;
        while (broken_ == 0 && count < done.size() && io_uring_peek_cqe(&ring_, &cqe) == 0) {
            const auto id = static_cast<uint32_t>(io_uring_cqe_get_data64(cqe));
            const int32_t result = cqe->res;
            io_uring_cqe_seen(&ring_, cqe);
            Held &held = requests_[id];
            const bool again = result == -EINTR || result == -EAGAIN;
            int error = result < 0 && !again ? -result : 0;
            if (error == 0) error = move_rest(calls_, held.request, result > 0 ? static_cast<uint32_t>(result) : 0);
            done[count++] = {id, error};
            held.in_flight = false;
            --in_flight_;
        }
        for (uint32_t id = 0; broken_ != 0 && count < done.size() && id < requests_.size(); ++id) {
            if (!requests_[id].in_flight) continue;
            requests_[id].in_flight = false;
            --in_flight_;
            done[count++] = {id, broken_};
        }
        return count;
    }

    void give_up(int error) { // the ring itself is unusable: all that is in flight fails, and nothing hangs
        if (broken_ == 0) broken_ = error;
    }

    const Calls &calls_;
    std::vector<Held> requests_;
    io_uring ring_{};
    bool open_ = false;
    uint32_t in_flight_ = 0, unsubmitted_ = 0;
    int broken_ = 0;
};
#endif

} // namespace

std::unique_ptr<Io> make_io(uint32_t depth, bool uring, const Calls &calls) {
    if (!uring) return std::make_unique<OneByOne>(depth, calls, "io_uring is switched off");
#ifdef HBF_HAVE_URING
    auto ring = std::make_unique<Uring>(depth, calls);
    if (ring->is_open()) return ring;
    return std::make_unique<OneByOne>(depth, calls, ring->why());
#else
    return std::make_unique<OneByOne>(depth, calls, "built without liburing");
#endif
}

} // namespace hbf::kv::cold
