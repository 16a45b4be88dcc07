// SPDX-License-Identifier: Apache-2.0
// The emulated runtime keeps the contract that it cites, the unpleasant parts too.
#include <atomic>
#include <cstring>
#include <thread>

#include "conformance/emulators/cambricon/driver/functions.hpp"
#include "conformance/emulators/cambricon/runtime/runtime.hpp"
#include "conformance/emulators/cambricon/tests/child.hpp"
#include "conformance/sim/model/machine.hpp"

namespace hbf::emulated::cnrt {
namespace {

constexpr size_t size = 1 << 16;
constexpr int not_ready = 1, queue_error = 100060;

struct Scene {
    Scene() {
        EXPECT_EQ(cnrtQueueCreate(&queue), Success);
        EXPECT_EQ(cnrtMalloc(&device, size), Success);
        EXPECT_EQ(cnrtHostMalloc(&host, size), Success);
        EXPECT_EQ(cnrtNotifierCreate(&notifier), Success);
        std::memset(host, 0x5a, size);
    }
    std::byte *bytes() const { return static_cast<std::byte *>(host); }
    cnrtQueue_t queue = nullptr;
    cnrtNotifier_t notifier = nullptr;
    void *device = nullptr, *host = nullptr;
};

// Holds a queue until it is opened.
struct Gate {
    std::atomic<bool> open{false};
    void hold(cnrtQueue_t queue) {
        EXPECT_EQ(cnrtInvokeHostFunc(
                      queue,
                      [](void *self) {
                          while (!static_cast<Gate *>(self)->open) std::this_thread::yield();
                      },
                      this),
                  Success);
    }
};

TEST(Cnrt, CopiesWhatItIsTold) {
    passes_in_child("", [] {
        Scene scene;
        EXPECT_EQ(cnrtMemcpyAsync_V3(scene.device, scene.host, size, scene.queue, NoDirection), Success);
        EXPECT_EQ(cnrtQueueSync(scene.queue), Success);
        std::memset(scene.host, 0, size);
        EXPECT_EQ(cnrtMemcpy(scene.host, scene.device, size, DevToHost), Success);
        EXPECT_EQ(scene.bytes()[size - 1], std::byte(0x5a));
        EXPECT_EQ(cnrtMemcpyAsync(scene.device, scene.host, size, scene.queue, 6), ErrorMemcpyDirectionInvalid);
        EXPECT_EQ(cnrtPeekAtLastError(), ErrorMemcpyDirectionInvalid);
        EXPECT_EQ(cnrtGetLastError(), ErrorMemcpyDirectionInvalid);
        EXPECT_EQ(cnrtGetLastError(), Success);
    });
}

// BANG C/C++ guide 6.5.12.2.
TEST(Cnrt, ANotifierDoesNotSayThatACopyFailedAndTheQueueDoes) {
    passes_in_child("fail", [] {
        Scene scene;
        cnrtQueue_t other = nullptr;
        ASSERT_EQ(cnrtQueueCreate(&other), Success);
        EXPECT_EQ(cnrtMemcpyAsync_V3(scene.device, scene.host, size, scene.queue, NoDirection), Success);
        EXPECT_EQ(cnrtPlaceNotifier(scene.notifier, scene.queue), Success);
        EXPECT_EQ(cnrtQueueWaitNotifier(scene.notifier, other, 0), Success);
        EXPECT_EQ(cnrtWaitNotifier(scene.notifier), Success);
        EXPECT_EQ(cnrtQueryNotifier(scene.notifier), Success);
        EXPECT_EQ(cnrtQueueSync(other), Success) << "the waiting queue ends normally";
        EXPECT_EQ(cnrtQueueSync(scene.queue), queue_error);
        EXPECT_EQ(cnrtQueueQuery(scene.queue), queue_error);
    });
}

TEST(Cnrt, ACallbackOfCndrvIsToldTheStatus) {
    passes_in_child("fail", [] {
        Scene scene;
        static std::atomic<int> told{-1};
        EXPECT_EQ(cnrtMemcpyAsync_V3(scene.device, scene.host, size, scene.queue, NoDirection), Success);
        EXPECT_EQ(cn::cnQueueAddCallback(
                      scene.queue, [](cn::CNqueue, int status, void *) { told = status; }, nullptr, 0),
                  Success);
        (void)cnrtQueueSync(scene.queue);
        EXPECT_EQ(told, queue_error);
    });
}

// 6.5.12.2: a later placing "does not affect" waits that were submitted.
TEST(Cnrt, PlacingANotifierAgainChangesNoWaitThatWasSubmitted) {
    passes_in_child("", [] {
        Scene scene;
        cnrtQueue_t other = nullptr;
        ASSERT_EQ(cnrtQueueCreate(&other), Success);
        EXPECT_EQ(cnrtPlaceNotifier(scene.notifier, scene.queue), Success);
        EXPECT_EQ(cnrtQueueWaitNotifier(scene.notifier, other, 0), Success);
        Gate gate;
        gate.hold(scene.queue);
        EXPECT_EQ(cnrtPlaceNotifier(scene.notifier, scene.queue), Success);
        EXPECT_EQ(cnrtQueueSync(other), Success) << "and does not wait for the gate";
        EXPECT_EQ(cnrtQueryNotifier(scene.notifier), not_ready);
        EXPECT_EQ(cnrtQueueQuery(scene.queue), not_ready);
        gate.open = true;
        EXPECT_EQ(cnrtQueueSync(scene.queue), Success);
        EXPECT_EQ(cnrtQueryNotifier(scene.notifier), Success);
    });
}

TEST(Cnrt, QueuesAreInOrderAndLate) {
    passes_in_child("", [] {
        Scene scene;
        Gate gate;
        gate.hold(scene.queue);
        EXPECT_EQ(cnrtMemcpyAsync_V3(scene.device, scene.host, size, scene.queue, NoDirection), Success);
        std::memset(scene.host, 0x77, size); // read when the copy runs
        gate.open = true;
        EXPECT_EQ(cnrtQueueSync(scene.queue), Success);
        std::memset(scene.host, 0, size);
        EXPECT_EQ(cnrtMemcpy(scene.host, scene.device, size, NoDirection), Success);
        EXPECT_EQ(scene.bytes()[7], std::byte(0x77));
    });
}

// 6.5.7: such a copy "becomes synchronous".
TEST(Cnrt, ACopyOfMemoryThatIsNotPinnedIsOverWhenItReturns) {
    passes_in_child("", [] {
        Scene scene;
        std::string pageable(size, 'p');
        EXPECT_EQ(cnrtMemcpyAsync_V3(scene.device, pageable.data(), size, scene.queue, NoDirection), Success);
        EXPECT_EQ(cnrtQueueQuery(scene.queue), Success);
        pageable.assign(size, 'x');
        EXPECT_EQ(cnrtMemcpy(scene.host, scene.device, size, NoDirection), Success);
        EXPECT_EQ(scene.bytes()[0], std::byte('p'));
    });
}

TEST(Cnrt, AHostFunctionMayCallNothing) {
    passes_in_child("", [] {
        Scene scene;
        static std::atomic<int> answer{-1};
        EXPECT_EQ(
            cnrtInvokeHostFunc(
                scene.queue, [](void *queue) { answer = cnrtQueueQuery(static_cast<cnrtQueue_t>(queue)); }, scene.queue),
            Success);
        EXPECT_EQ(cnrtQueueSync(scene.queue), Success);
        EXPECT_GT(answer, not_ready);
    });
}

TEST(Cnrt, ArgumentsAndHandlesAreChecked) {
    passes_in_child("", [] {
        Scene scene;
        int elsewhere = 0;
        EXPECT_NE(cnrtFree(&elsewhere), Success);
        EXPECT_NE(cnrtFree(static_cast<std::byte *>(scene.device) + 64), Success) << "not where it begins";
        EXPECT_NE(cnrtFreeHost(scene.device), Success) << "of the other kind";
        EXPECT_EQ(cnrtFree(scene.device), Success);
        EXPECT_NE(cnrtFree(scene.device), Success) << "a second time";
        EXPECT_EQ(cnrtQueueDestroy(scene.queue), Success);
        EXPECT_NE(cnrtQueueQuery(scene.queue), Success);
        EXPECT_EQ(cnrtSetDevice(7), ErrorDeviceInvalid);
        void *nothing = &elsewhere;
        EXPECT_EQ(cnrtHostMalloc(&nothing, 0), Success);
        EXPECT_EQ(nothing, nullptr);
        int value = 0;
        EXPECT_EQ(cnrtDeviceGetAttribute(&value, 0x405, 0), Success);
        EXPECT_EQ(value, 24576) << "MB";
        char text[16] = {};
        EXPECT_NE(cnrtDeviceGetPCIBusId(text, 12, 0), Success) << "wants 13 bytes";
        EXPECT_EQ(cnrtDeviceGetPCIBusId(text, 16, 0), Success);
        EXPECT_STREQ(text, "0000:4f:00.0");
    });
}

// cnInit: "After calling cnInit(), it is forbidden to call fork()".
TEST(Cnrt, AProcessThatForkedMayNotGoOnInTheChild) {
    passes_in_child("", [] {
        unsigned count = 0;
        EXPECT_EQ(cnrtGetDeviceCount(&count), Success);
        const pid_t child = fork();
        if (child == 0) _exit(cnrtGetDeviceCount(&count) == Success ? 1 : 0);
        int status = -1;
        waitpid(child, &status, 0);
        EXPECT_EQ(status, 0);
    });
}

// A misreading each: it moves what it should not, and nobody says so.
TEST(Cnrt, MisreadingsActAsTheyAreNamed) {
    passes_in_child("cnrt-failure-unsaid", [] {
        Scene scene;
        EXPECT_EQ(cnrtMemsetAsync(scene.device, 0, size, scene.queue), Success);
        EXPECT_EQ(cnrtMemcpyAsync_V3(scene.device, scene.host, size, scene.queue, NoDirection), Success);
        EXPECT_EQ(cnrtQueueSync(scene.queue), Success);
        std::byte last{1};
        EXPECT_EQ(model::machine()->memory().peek(reinterpret_cast<uintptr_t>(scene.device) + size - 1, &last, 1),
                  model::Outcome::ok);
        EXPECT_EQ(last, std::byte(0));
    });
    passes_in_child("cnrt-wait-of-idle-queue", [] {
        Scene scene;
        cnrtQueue_t other = nullptr;
        ASSERT_EQ(cnrtQueueCreate(&other), Success);
        Gate gate;
        gate.hold(scene.queue);
        EXPECT_EQ(cnrtPlaceNotifier(scene.notifier, scene.queue), Success);
        EXPECT_EQ(cnrtQueueWaitNotifier(scene.notifier, other, 0), Success);
        EXPECT_EQ(cnrtQueueSync(other), Success) << "and does not wait for the gate";
        gate.open = true;
        EXPECT_EQ(cnrtQueueSync(scene.queue), Success);
    });
}

} // namespace
} // namespace hbf::emulated::cnrt
