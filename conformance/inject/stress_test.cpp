// SPDX-License-Identifier: Apache-2.0
// Many threads in the wrapper at once, with faults that keep things in memory of their own. Under the thread and address
// sanitizers this is what shows a race or a use after free of the wrapper's.
#include <atomic>
#include <cstring>
#include <thread>

#include <gtest/gtest.h>

#include "conformance/inject/wrapped_test.hpp"

namespace hbf::inject::testing {
namespace {

constexpr unsigned threads = 4;
constexpr int rounds = 30;

// Each thread with queues and regions of its own; one more looks at all queues that there are.
void stress(const std::string &fault) {
    SCOPED_TRACE(fault);
    Wrapped device(fault);
    ASSERT_NE(device.instance, nullptr) << device.answer.message;
    std::vector<hbf_queue *> queues;
    for (unsigned i = 0; i < threads; ++i) queues.push_back(device.make_queue());
    std::atomic<unsigned> working{threads};
    std::vector<std::thread> crew;
    for (unsigned i = 0; i < threads; ++i)
        crew.emplace_back([&, i] {
            uint64_t last = 0;
            for (int round = 0; round < rounds; ++round) {
                const hbf_region_info src = device.alloc(8192), dst = device.alloc(8192);
                uint64_t value = 0;
                if (device.submit(queues[i], {copy(dst, 0, src, 0, 4096), fill(dst, 4096, 4000, 1)}, value).status == HBF_OK)
                    last = value;
                hbf_command wait{};
                wait.kind = HBF_COMMAND_WAIT;
                wait.u.wait = {queues[i], last};
                hbf_queue *own = device.make_queue();
                if (last != 0 && device.submit(own, {wait, fill(src, 0, 64, 2)}, value).status == HBF_OK)
                    device.wait(own, value, 2'000'000'000);
                device.wait(queues[i], last, 2'000'000'000);
                while (device.queue->destroy(own, nullptr) == HBF_BUSY) std::this_thread::yield();
                for (const hbf_region region : {src.region, dst.region})
                    while (device.free(region).status == HBF_BUSY) std::this_thread::yield();
            }
            --working;
        });
    while (working > 0)
        for (hbf_queue *queue : queues) {
            device.poll(queue);
            hbf_tier_info info{};
            info.struct_size = sizeof info;
            device.tier->describe(device.instance, 0, &info, nullptr);
        }
    for (std::thread &one : crew) one.join();
}

TEST(Stress, Transparent) {
    stress("");
}
TEST(Stress, DataFaults) {
    for (const char *fault : {"flip,p=1e-4", "stuck", "stale", "torn,us=1", "guard-write", "address-bit-ignored,bit=8"})
        stress(fault);
}
TEST(Stress, BatchesKeptBack) {
    for (const char *fault : {"early-completion,ms=1", "early-completion,ms=1,rate=3", "reorder", "reorder,rate=2"})
        stress(fault);
}
TEST(Stress, Completion) {
    for (const char *fault : {"twice,after=100000", "throttled,bps=1000000000", "depth-drops", "cancel-wrong"})
        stress(fault);
}
TEST(Stress, Failure) {
    for (const char *fault : {"device-error,after=50,count=1", "device-error,rate=7;error-not-in-fence"}) stress(fault);
}
TEST(Stress, Regions) {
    for (const char *fault : {"alignment-ignored", "handle-reused", "leak,rate=5", "fresh-region-shows-old-bytes",
                              "bit-fade,ms=1000000", "free-in-flight-ok"})
        stress(fault);
}
TEST(Stress, ManyAtOnce) {
    stress("flip,rate=3;drop-tail,rate=2;reorder,rate=4;early-completion,ms=1,rate=5;throttled,bps=1000000000;twice,after="
           "1000000");
}

} // namespace
} // namespace hbf::inject::testing
