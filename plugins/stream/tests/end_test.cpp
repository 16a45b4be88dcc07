// SPDX-License-Identifier: Apache-2.0
// The end of an instance whose device does nothing any more: bounded, and what the device may write to stays.
#include "hbf/sdk/shell/plugin_shell.hpp"
#include "plugins/stream/tests/seen.hpp"
#include "plugins/stream/tests/testing.hpp"

namespace hbf::stream {
namespace {

using sdk::shell::InstanceShell;

struct Scene {
    explicit Scene(FakeRuntime &runtime, const Logged &logged) {
        auto made = std::make_unique<FakeInstance>(runtime);
        made->end_patience = 20'000'000;
        instance = made.get();
        shell = std::make_unique<InstanceShell>(std::move(made), logged.log());
        queue = shell->make_queue({});
        sdk::AllocRequest request;
        request.size = 64;
        region = instance->alloc(request).region;
    }
    void copy() const {
        hbf_command command{};
        command.kind = HBF_COMMAND_COPY;
        command.u.copy = {region, 0, region, 32, 8, nullptr};
        const hbf_batch batch{sizeof batch, sizeof command, &command, 1};
        uint64_t value = 0;
        EXPECT_EQ(sdk::shell::queue_submit(queue->handle(), &batch, &value, nullptr), HBF_OK);
    }
    FakeInstance *instance;
    std::unique_ptr<InstanceShell> shell;
    sdk::shell::QueueShell *queue;
    hbf_region region;
};

TEST(StreamEnd, OfADeviceThatHangsIsBoundedAndKeepsWhatItMayWriteTo) {
    auto &runtime = *new FakeRuntime; // the instance that is kept names it
    Logged logged;
    Scene scene(runtime, logged);
    scene.copy();
    InstanceShell::end(std::move(scene.shell));
    EXPECT_EQ(runtime.live_regions, 1);
    EXPECT_EQ(runtime.streams.size(), 1u) << "the stream is not ended: that would wait for the device";
    EXPECT_FALSE(runtime.events.empty());
    EXPECT_NE(logged.text.find("stay as they are until the process ends"), std::string::npos) << logged.text;
    while (runtime.streams.front()->step()) { // one day it goes on: into memory that is still there
    }
}

TEST(StreamEnd, OfADeviceThatWorksWaitsAndGivesAllBack) {
    FakeRuntime runtime;
    Logged logged;
    Scene scene(runtime, logged);
    scene.copy();
    runtime.streams.front()->break_down(7); // over, if badly
    InstanceShell::end(std::move(scene.shell));
    EXPECT_EQ(runtime.live_regions, 0);
    EXPECT_TRUE(runtime.streams.empty());
    EXPECT_TRUE(runtime.events.empty());
    EXPECT_EQ(logged.text, "");
}

} // namespace
} // namespace hbf::stream
