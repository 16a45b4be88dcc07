// SPDX-License-Identifier: Apache-2.0
// The Cambricon plugin beside the same calls of CNRT by hand. A notifier carries no errors, so whoever wants to know how a
// copy ended asks a queue that has nothing else in it: by hand each copy has its own, too.
#include "bench/emulated.hpp"
#include "bench/rows.hpp"
#include "plugins/cambricon/api.hpp"

namespace hbf::bench {
namespace {

using namespace cambricon;
constexpr uint64_t depth = 16; // of the plugin's queues

class CnrtByHand {
public:
    static void *open(const std::filesystem::path &file) { return open_library(file); }
    CnrtByHand(void *cnrt, uint64_t batches)
        : per_burst(batches), copy_(take<int(void *, void *, size_t, CnrtQueue, int)>(cnrt, "cnrtMemcpyAsync_V2")),
          place_(take<int(CnrtNotifier, CnrtQueue)>(cnrt, "cnrtPlaceNotifier")),
          wait_(take<int(CnrtNotifier, CnrtQueue, unsigned)>(cnrt, "cnrtQueueWaitNotifier")),
          query_notifier_(take<int(CnrtNotifier)>(cnrt, "cnrtQueryNotifier")),
          query_queue_(take<int(CnrtQueue)>(cnrt, "cnrtQueueQuery")), queues_(batches + 1), notifiers_(batches) {
        check_code(take<int(int)>(cnrt, "cnrtSetDevice")(0), "cnrtSetDevice");
        for (CnrtQueue &queue : queues_)
            check_code(take<int(CnrtQueue *)>(cnrt, "cnrtQueueCreate")(&queue), "cnrtQueueCreate");
        for (CnrtNotifier &notifier : notifiers_)
            check_code(take<int(CnrtNotifier *)>(cnrt, "cnrtNotifierCreate")(&notifier), "cnrtNotifierCreate");
        for (void **const at : {&from_, &to_})
            check_code(take<int(void **, size_t)>(cnrt, "cnrtMalloc")(at, copy_bytes), "cnrtMalloc");
    }

    void run_burst() {
        for (size_t i = 0; i < notifiers_.size(); ++i) {
            check_code(copy_(to_, from_, copy_bytes, queues_[i], memcpy_no_direction), "cnrtMemcpyAsync");
            check_code(place_(notifiers_[i], queues_[i]), "cnrtPlaceNotifier");
            check_code(wait_(notifiers_[i], queues_[i + 1], 0), "cnrtQueueWaitNotifier");
        }
        for (size_t i = 0; i < notifiers_.size(); ++i) {
            check_code(over([&] { return query_notifier_(notifiers_[i]); }), "cnrtQueryNotifier");
            check_code(over([&] { return query_queue_(queues_[i]); }), "cnrtQueueQuery");
        }
    }
    const uint64_t per_burst;

private:
    template <class Ask>
    static int over(const Ask &ask) {
        int code = code::not_ready;
        while (code == code::not_ready || code == code::busy) code = ask();
        return code;
    }

    int (*const copy_)(void *, void *, size_t, CnrtQueue, int);
    int (*const place_)(CnrtNotifier, CnrtQueue);
    int (*const wait_)(CnrtNotifier, CnrtQueue, unsigned);
    int (*const query_notifier_)(CnrtNotifier);
    int (*const query_queue_)(CnrtQueue);
    std::vector<CnrtQueue> queues_; // one more than there are copies
    std::vector<CnrtNotifier> notifiers_;
    void *from_ = nullptr, *to_ = nullptr;
};

} // namespace

void cambricon_rows(const Settings &settings, std::vector<Row> &rows) {
    overhead_rows<CnrtByHand>(settings, rows,
                              Overhead("Cambricon", "copy, notifier and its queue asked by hand, emulated CNRT"),
                              "cambricon", "libcnrt.so", depth);
}

} // namespace hbf::bench
