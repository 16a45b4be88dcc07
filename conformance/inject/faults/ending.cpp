// SPDX-License-Identifier: Apache-2.0
// Queues and instances that end badly.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"

namespace hbf::inject {
namespace {

// The plugin's queue lives on until the instance ends.
class QueueDestroyOk final : public Fault {
public:
    using Fault::Fault;

    hbf_status destroy_queue(Queue &queue, hbf_error *e) override {
        const hbf_status status = below_->destroy_queue(queue, e);
        if (settings().text("what") == "in-flight") return status == HBF_BUSY && fires() ? HBF_OK : status;
        if (status != HBF_OK || !fires()) return status;
        hbf_queue_desc desc{}; // in its stead another one stays for good
        desc.struct_size = sizeof desc;
        hbf_queue *stays = nullptr;
        device().queue_table().create(device().instance(), &desc, &stays, nullptr);
        return status;
    }
};
HBF_FAULT(QueueDestroyOk, "queue-destroy-ok", "destroy of a queue says HBF_OK and is not true",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "in-flight",
           .line = "values are in flight; or its place is not given back",
           .choices = {"in-flight", "leaks"}});

// What has not begun never will.
class DestroyAbandons final : public Fault {
public:
    using Fault::Fault;

    std::unique_ptr<QueueState> remember_queue() override { return std::make_unique<Last>(); }
    hbf_status create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) override {
        const hbf_status status = below_->create_queue(desc, queue, e);
        std::lock_guard lock(mutex_);
        if (status == HBF_OK && queue.real) queues_.push_back(&queue);
        return status;
    }
    hbf_status destroy_queue(Queue &queue, hbf_error *e) override {
        const hbf_status status = below_->destroy_queue(queue, e);
        std::lock_guard lock(mutex_);
        if (status == HBF_OK) std::erase(queues_, &queue);
        return status;
    }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        const hbf_status status = below_->submit(queue, batch, out_value, e);
        if (status == HBF_OK && out_value) state_of<Last>(queue).value = *out_value;
        return status;
    }
    void destroy() override {
        for (Queue *queue : queues_)
            for (uint64_t value = state_of<Last>(*queue).value; value > 0; --value)
                if (below_->cancel(*queue, value, nullptr) != HBF_OK) break;
        below_->destroy();
    }

private:
    struct Last : QueueState {
        std::atomic<uint64_t> value{0};
    };
    std::mutex mutex_;
    std::vector<Queue *> queues_;
};
HBF_FAULT(DestroyAbandons, "destroy-abandons", "destroy of an instance gives up the work that has not begun");

class LeakAtDestroy final : public Fault {
public:
    using Fault::Fault;

    void destroy() override {
        below_->destroy();
        if (!fires()) return;
        const std::string &what = settings().text("what");
        const uint64_t bytes = std::max<uint64_t>(settings().number("bytes"), 1);
        if (what == "descriptor") {
            (void)!open("/dev/null", O_RDONLY | O_CLOEXEC);
        } else if (what == "mapping") {
            (void)!mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        } else if (what == "thread") {
            std::thread([] {
                for (;;) pause();
            }).detach();
        } else {
            auto *memory = new std::vector<char>(bytes, 'x'); // touched, and never seen again
            asm volatile("" : : "r"(memory) : "memory");
        }
    }
};
HBF_FAULT(LeakAtDestroy, "leak-at-destroy", "an instance that ended leaves something behind",
          {.key = "what",
           .kind = Parameter::word,
           .preset = "memory",
           .line = "which",
           .choices = {"memory", "descriptor", "mapping", "thread"}},
          {.key = "bytes", .preset = "65536", .line = "of memory"});

} // namespace
} // namespace hbf::inject
