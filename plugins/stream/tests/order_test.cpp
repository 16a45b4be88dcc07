// SPDX-License-Identifier: Apache-2.0
// Queues that wait for each other. Handles of queues are the shell's, so these go through it.
#include <thread>

#include "hbf/sdk/shell/plugin_shell.hpp"
#include "plugins/stream/tests/testing.hpp"

namespace hbf::stream {
namespace {

class StreamOrder : public OnStreams {
protected:
    StreamOrder() : shell(std::move(instance)) {}
    sdk::shell::QueueShell *make(uint32_t depth = 0) { return shell.make_queue({depth, 0}); }
    static uint64_t put(sdk::shell::QueueShell *queue, const std::vector<hbf_command> &commands) {
        const hbf_batch batch{sizeof batch, sizeof(hbf_command), commands.data(), commands.size()};
        uint64_t value = 0;
        EXPECT_EQ(sdk::shell::queue_submit(queue->handle(), &batch, &value, nullptr), HBF_OK);
        return value;
    }
    static hbf_command after(sdk::shell::QueueShell *queue, uint64_t value) {
        hbf_command command{};
        command.kind = HBF_COMMAND_WAIT;
        command.u.wait = {queue->handle(), value};
        return command;
    }
    hbf_region allocate(uint64_t size) {
        sdk::AllocRequest request;
        request.size = size;
        return shell.instance->alloc(request).region;
    }

    sdk::shell::InstanceShell shell;
};

TEST_F(StreamOrder, AWaitHoldsBackUntilTheOtherQueueIsThere) {
    const hbf_region a = allocate(64);
    auto *const first = make(), *const second = make();
    put(first, {copy(a, 0, a, 32, 8)});
    put(second, {after(first, 1), copy(a, 8, a, 0, 8)});
    EXPECT_EQ(runtime.calls["wait"], 1);
    EXPECT_FALSE(stream(1).step());
    stream(0).step();
    EXPECT_TRUE(stream(1).step());
    run_all();
    EXPECT_EQ(second->queue->poll().completed, 1u);
    put(second, {after(first, 1), copy(a, 8, a, 0, 8)});
    EXPECT_EQ(runtime.calls["wait"], 1) << "what is over needs no wait";
    put(second, {after(second, 1), copy(a, 8, a, 0, 8)});
    EXPECT_EQ(runtime.calls["wait"], 1) << "nor does the queue itself";
    run_all();
}

TEST_F(StreamOrder, AFailureReachesThoseThatWaited) {
    const hbf_region a = allocate(64);
    auto *const first = make(), *const second = make();
    put(first, {copy(a, 0, a, 32, 8)});
    put(second, {after(first, 1), copy(a, 8, a, 0, 8)});
    stream(0).break_down(4);
    run_all();
    EXPECT_EQ(second->queue->poll().failed, 1u);
    EXPECT_NE(second->queue->failure()->message.find("FAKE_ERROR (4)"), std::string::npos);
    put(second, {copy(a, 8, a, 0, 8)});
    run_all();
    EXPECT_EQ(second->queue->poll().completed, 2u);
    EXPECT_EQ(second->queue->poll().failed, 1u);
}

TEST_F(StreamOrder, AQueueMayEndBeforeThoseThatWaitedForItAreAsked) {
    const hbf_region a = allocate(64);
    auto *const first = make(), *const second = make();
    put(first, {copy(a, 0, a, 32, 8)});
    put(second, {after(first, 1), copy(a, 8, a, 0, 8)});
    run_all();
    EXPECT_EQ(sdk::shell::queue_destroy(first->handle(), nullptr), HBF_OK);
    EXPECT_EQ(second->queue->poll().completed, 1u);
    EXPECT_EQ(second->queue->poll().failed, 0u);
}

TEST_F(StreamOrder, AWaitForAValueToComeIsRefused) {
    auto *const first = make(), *const second = make();
    const hbf_command commands[] = {after(first, 1)};
    const hbf_batch batch{sizeof batch, sizeof(hbf_command), commands, 1};
    uint64_t value = 0;
    EXPECT_EQ(sdk::shell::queue_submit(second->handle(), &batch, &value, nullptr), HBF_INVALID);
}

// With ThreadSanitizer: everybody polls while one submits and another runs the streams.
TEST_F(StreamOrder, ThreadsMayPollWhatOthersSubmit) {
    const hbf_region a = allocate(64);
    auto *const first = make(8), *const second = make(8);
    std::atomic<bool> stop{false};
    std::thread engine([&] {
        while (!stop) {
            (void)stream(0).step();
            (void)stream(1).step();
        }
    });
    std::thread watcher([&] {
        uint64_t last = 0;
        while (!stop) {
            const uint64_t now = second->queue->poll().completed;
            EXPECT_GE(now, last);
            last = now;
        }
    });
    for (uint64_t i = 1; i <= 300; ++i) {
        EXPECT_EQ(put(first, {copy(a, 0, a, 32, 8)}), i);
        EXPECT_EQ(put(second, {after(first, i), copy(a, 8, a, 0, 8)}), i);
        if (i % 4 == 0) {
            EXPECT_TRUE(second->queue->wait(i, UINT64_MAX));
            EXPECT_TRUE(first->queue->wait(i, UINT64_MAX));
        }
    }
    stop = true;
    engine.join();
    watcher.join();
    EXPECT_EQ(second->queue->poll().completed, 300u);
    EXPECT_EQ(second->queue->poll().failed, 0u);
}

} // namespace
} // namespace hbf::stream
