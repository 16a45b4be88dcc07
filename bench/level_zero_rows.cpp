// SPDX-License-Identifier: Apache-2.0
// The Level Zero plugin beside the same calls by hand: a copy, and a barrier that sets an event behind it.
#include <cstdlib>

#include "bench/emulated.hpp"
#include "bench/rows.hpp"
#include "plugins/level_zero/api.hpp"

namespace hbf::bench {
namespace {

using namespace level_zero;

class ZeByHand {
public:
    static void *open(const std::filesystem::path &driver) {
        ::setenv("ZE_ENABLE_ALT_DRIVERS", std::filesystem::absolute(driver).c_str(), 1);
        return open_library("libze_loader.so.1");
    }
    ZeByHand(void *ze, uint64_t batches)
        : per_burst(batches),
          copy_(take<ze::Result(ze::List, void *, const void *, size_t, ze::Event, uint32_t, ze::Event *)>(
              ze, "zeCommandListAppendMemoryCopy")),
          barrier_(take<ze::Result(ze::List, ze::Event, uint32_t, ze::Event *)>(ze, "zeCommandListAppendBarrier")),
          query_(take<ze::Result(ze::Event)>(ze, "zeEventQueryStatus")),
          reset_(take<ze::Result(ze::Event)>(ze, "zeEventHostReset")),
          state_(take<ze::Result(ze::Device)>(ze, "zeDeviceGetStatus")), events_(batches) {
        ze::Driver driver = nullptr;
        uint32_t one = 1;
        check_code(take<ze::Result(uint32_t)>(ze, "zeInit")(0), "zeInit");
        check_code(take<ze::Result(uint32_t *, ze::Driver *)>(ze, "zeDriverGet")(&one, &driver), "zeDriverGet");
        check_code(take<ze::Result(ze::Driver, uint32_t *, ze::Device *)>(ze, "zeDeviceGet")(driver, &one, &device_),
                   "zeDeviceGet");
        ze::Context context = nullptr;
        const ze::ContextDesc context_desc;
        check_code(take<ze::Result(ze::Driver, const ze::ContextDesc *, ze::Context *)>(ze, "zeContextCreate")(
                       driver, &context_desc, &context),
                   "zeContextCreate");
        const ze::QueueDesc queue_desc; // ordinal 0: the engine that computes
        check_code(take<ze::Result(ze::Context, ze::Device, const ze::QueueDesc *, ze::List *)>(
                       ze, "zeCommandListCreateImmediate")(context, device_, &queue_desc, &list_),
                   "zeCommandListCreateImmediate");
        make_events(ze, context);
        for (void **const at : {&from_, &to_}) {
            const ze::DeviceAllocDesc desc;
            check_code(take<ze::Result(ze::Context, const ze::DeviceAllocDesc *, size_t, size_t, ze::Device, void **)>(
                           ze, "zeMemAllocDevice")(context, &desc, copy_bytes, 64, device_, at),
                       "zeMemAllocDevice");
        }
    }

    void run_burst() {
        for (ze::Event const event : events_) {
            check_code(reset_(event), "zeEventHostReset");
            check_code(copy_(list_, to_, from_, copy_bytes, nullptr, 0, nullptr), "zeCommandListAppendMemoryCopy");
            check_code(barrier_(list_, event, 0, nullptr), "zeCommandListAppendBarrier");
        }
        for (ze::Event const event : events_) {
            ze::Result code = ze::not_ready;
            while (code == ze::not_ready) code = query_(event);
            check_code(code, "zeEventQueryStatus");
            check_code(state_(device_), "zeDeviceGetStatus"); // an event says nothing of errors
        }
    }
    const uint64_t per_burst;

private:
    void make_events(void *ze, ze::Context context) {
        ze::PoolDesc pool_desc;
        pool_desc.flags = ze::host_visible;
        pool_desc.count = static_cast<uint32_t>(events_.size());
        ze::Pool pool = nullptr;
        check_code(take<ze::Result(ze::Context, const ze::PoolDesc *, uint32_t, ze::Device *, ze::Pool *)>(
                       ze, "zeEventPoolCreate")(context, &pool_desc, 1, &device_, &pool),
                   "zeEventPoolCreate");
        for (uint32_t i = 0; i < events_.size(); ++i) {
            ze::EventDesc desc;
            desc.index = i;
            desc.signal = desc.wait = ze::scope_host;
            check_code(take<ze::Result(ze::Pool, const ze::EventDesc *, ze::Event *)>(ze, "zeEventCreate")(pool, &desc,
                                                                                                           &events_[i]),
                       "zeEventCreate");
        }
    }

    ze::Result (*const copy_)(ze::List, void *, const void *, size_t, ze::Event, uint32_t, ze::Event *);
    ze::Result (*const barrier_)(ze::List, ze::Event, uint32_t, ze::Event *);
    ze::Result (*const query_)(ze::Event);
    ze::Result (*const reset_)(ze::Event);
    ze::Result (*const state_)(ze::Device);
    ze::Device device_ = nullptr;
    ze::List list_ = nullptr;
    std::vector<ze::Event> events_;
    void *from_ = nullptr, *to_ = nullptr;
};

} // namespace

void level_zero_rows(const Settings &settings, std::vector<Row> &rows) {
    overhead_rows<ZeByHand>(settings, rows, Overhead("Level Zero", "copy and event by hand, emulated driver"), "level_zero",
                            "libze_intel_gpu.so.1", burst);
}

} // namespace hbf::bench
