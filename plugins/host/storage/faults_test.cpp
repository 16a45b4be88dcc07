// SPDX-License-Identifier: Apache-2.0
// What a healthy disk never shows: short transfers, errors, devices that go away.
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>

#include "core/fabric/testing/allocations.hpp"
#include "faulty_engine.hpp"
#include "io_calls.hpp"
#include "testing.hpp"
#include "thread_engine.hpp"

namespace hbf::host {
namespace {

using namespace testing;

class FaultsTest : public ::testing::Test {
protected:
    // Requests go to threads, which need no kernel feature; what is under test is the answer to what comes back.
    std::unique_ptr<StorageTier> tier(FaultScript script) {
        StorageInternals internals;
        internals.engine = [script = std::move(script)](uint32_t capacity) {
            return std::make_unique<FaultyEngine>(make_thread_engine(capacity), script);
        };
        StorageOptions options;
        options.path = scratch_.path();
        return open_storage(options, {}, internals);
    }
    static Fault none(const IoRequest &, uint64_t) { return {}; }

    ScratchDirectory scratch_;
};

TEST_F(FaultsTest, ShortTransfersAreContinued) {
    std::atomic<unsigned> shortened{0};
    auto tier = this->tier([&](const IoRequest &request, uint64_t number) {
        const Fault fault{.shorten_to = number % 3 == 0 ? 4096 : number % 3 == 1 ? 65536 + 512 : request.size};
        if (fault.shorten_to < request.size) ++shortened;
        return fault;
    });
    auto file = tier->create(3 << 20, "", false);
    auto channel = tier->create_channel(4);
    auto data = pattern(1, 0, 3 << 20);
    ASSERT_EQ(write(*channel, *file, 0, data.data(), data.size()).status, HBF_OK);
    EXPECT_GT(shortened.exchange(0), 0u);
    std::vector<std::byte> got(data.size());
    ASSERT_EQ(read(*channel, *file, 0, got.data(), got.size()).status, HBF_OK);
    EXPECT_GT(shortened, 0u);
    EXPECT_EQ(got, data);
}

TEST_F(FaultsTest, ShortDirectTransfersAreContinued) {
    auto tier =
        this->tier([](const IoRequest &, uint64_t number) { return Fault{.shorten_to = number % 2 ? 512u : 8192u * 3}; });
    auto file = tier->create(2 << 20, "", false);
    auto channel = tier->create_channel(4);
    auto memory = aligned_bytes(2 << 20);
    auto data = pattern(2, 0, 2 << 20);
    std::memcpy(memory.get(), data.data(), data.size());
    ASSERT_EQ(write(*channel, *file, 0, memory.get(), data.size()).status, HBF_OK);
    std::memset(memory.get(), 0, data.size());
    ASSERT_EQ(read(*channel, *file, 0, memory.get(), data.size()).status, HBF_OK);
    EXPECT_EQ(std::memcmp(memory.get(), data.data(), data.size()), 0);
}

TEST_F(FaultsTest, AReadThatComesToNothingIsDataLossAtItsPlace) {
    auto tier = this->tier([](const IoRequest &request, uint64_t) {
        return !request.write && request.offset >= (1 << 20) ? Fault{.shorten_to = 0} : Fault{};
    });
    auto file = tier->create(4 << 20, "", false);
    auto channel = tier->create_channel(4);
    auto memory = aligned_bytes(4 << 20);
    IoResult result = read(*channel, *file, 0, memory.get(), 4 << 20);
    EXPECT_EQ(result.status, HBF_DATA_LOSS);
    EXPECT_EQ(result.offset, 1u << 20);
    EXPECT_NE(result.message.find(scratch_.path()), std::string::npos) << result.message;
    EXPECT_EQ(read(*channel, *file, 0, memory.get(), 1 << 20).status, HBF_OK) << "what is not lost can still be read";
    EXPECT_EQ(read(*channel, *file, (1 << 20) - 512, memory.get(), 1024).status, HBF_DATA_LOSS) << "lost stays lost";
}

TEST_F(FaultsTest, AWriteThatComesToNothingIsNeverSuccess) {
    auto tier = this->tier([](const IoRequest &request, uint64_t) {
        return request.write && request.offset == (2 << 20) ? Fault{.shorten_to = 0} : Fault{};
    });
    auto file = tier->create(4 << 20, "", false);
    auto channel = tier->create_channel(4);
    auto memory = aligned_bytes(4 << 20);
    IoResult result = write(*channel, *file, 0, memory.get(), 4 << 20);
    EXPECT_EQ(result.status, HBF_DATA_LOSS);
    EXPECT_EQ(result.offset, 2u << 20);
}

struct ErrorCase {
    int error;
    hbf_status status;
};
class FaultErrors : public FaultsTest, public ::testing::WithParamInterface<ErrorCase> {};

TEST_P(FaultErrors, KeepTheirMeaningAndPlace) {
    auto [error, status] = GetParam();
    auto tier = this->tier([answer = -error](const IoRequest &request, uint64_t) {
        return request.offset >= (3 << 20) ? Fault{.answer = answer} : Fault{};
    });
    auto file = tier->create(8 << 20, "", false);
    auto channel = tier->create_channel(4);
    auto memory = aligned_bytes(8 << 20);
    for (bool writing : {true, false}) {
        IoResult result =
            writing ? write(*channel, *file, 0, memory.get(), 8 << 20) : read(*channel, *file, 0, memory.get(), 8 << 20);
        EXPECT_EQ(result.status, status) << result.message;
        EXPECT_EQ(result.offset, 3u << 20) << "the first byte that failed";
        EXPECT_NE(result.message.find(std::strerror(error)), std::string::npos) << result.message;
        EXPECT_NE(result.message.find("3145728"), std::string::npos) << result.message;
    }
    EXPECT_EQ(channel->in_flight(), 0u);
    EXPECT_EQ(write(*channel, *file, 0, memory.get(), 1 << 20).status, HBF_OK) << "the channel goes on";
}

INSTANTIATE_TEST_SUITE_P(Errno, FaultErrors,
                         ::testing::Values(ErrorCase{EIO, HBF_DEVICE_LOST}, ErrorCase{ENODEV, HBF_DEVICE_LOST},
                                           ErrorCase{ENXIO, HBF_DEVICE_LOST}, ErrorCase{EROFS, HBF_PERMISSION},
                                           ErrorCase{EACCES, HBF_PERMISSION}, ErrorCase{ENOSPC, HBF_EXHAUSTED},
                                           ErrorCase{EDQUOT, HBF_EXHAUSTED}, ErrorCase{ENODATA, HBF_DATA_LOSS},
                                           ErrorCase{EBADMSG, HBF_DATA_LOSS}, ErrorCase{EFAULT, HBF_INVALID},
                                           ErrorCase{EINVAL, HBF_INTERNAL}));

TEST_F(FaultsTest, InterruptedRequestsAreAskedAgain) {
    auto tier = this->tier([](const IoRequest &, uint64_t number) {
        const int errors[] = {EAGAIN, EINTR, ECANCELED};
        return number % 4 < 3 ? Fault{.answer = -errors[number % 4]} : Fault{};
    });
    auto file = tier->create(4 << 20, "", false);
    auto channel = tier->create_channel(4);
    auto data = pattern(7, 0, 4 << 20);
    ASSERT_EQ(write(*channel, *file, 0, data.data(), data.size()).status, HBF_OK);
    std::vector<std::byte> got(data.size());
    ASSERT_EQ(read(*channel, *file, 0, got.data(), got.size()).status, HBF_OK);
    EXPECT_EQ(got, data);
}

TEST_F(FaultsTest, RequestsThatAreCancelledForEverFailInTheEnd) {
    auto tier = this->tier([](const IoRequest &, uint64_t) { return Fault{.answer = -ECANCELED}; });
    auto file = tier->create(4096, "", false);
    auto channel = tier->create_channel(1);
    auto memory = aligned_bytes(4096);
    EXPECT_EQ(read(*channel, *file, 0, memory.get(), 4096).status, HBF_INTERNAL);
}

// The n-th allocation fails while an error is on its way: the I/O ends all the same, and as that error.
void without_memory(StorageChannel &channel, StorageFile &file, uint64_t offset, hbf_status expected) {
    auto memory = aligned_bytes(65536);
    bool struck = true;
    for (uint64_t nth = 1; struck; ++nth) {
        hbf::testing::fail_allocation(nth);
        channel.read(file, offset, memory.get(), 65536, 1);
        IoResult result;
        while (channel.reap({&result, 1}, forever) == 0) {
        }
        struck = hbf::testing::allocation_failed();
        hbf::testing::fail_allocation(0);
        EXPECT_EQ(result.status, expected) << "allocation " << nth;
        EXPECT_FALSE(result.message.empty());
        ASSERT_EQ(channel.in_flight(), 0u);
    }
}

TEST_F(FaultsTest, ErrorsArriveWithoutMemoryForTheirWords) {
    auto tier = this->tier([](const IoRequest &request, uint64_t) {
        return request.offset < (1 << 20) ? Fault{.answer = -EIO} : Fault{.shorten_to = 0};
    });
    auto file = tier->create(2 << 20, "", false);
    auto channel = tier->create_channel(4);
    without_memory(*channel, *file, 4096, HBF_DEVICE_LOST);
    without_memory(*channel, *file, 1 << 20, HBF_DATA_LOSS);
    without_memory(*channel, *file, 1 << 20, HBF_DATA_LOSS); // known beforehand now
    without_memory(*channel, *file, 3 << 20, HBF_INVALID);
}

TEST_F(FaultsTest, ThreadsThatCannotBeMadeAreDoneWithout) {
    bool struck = true;
    for (uint64_t nth = 1; struck; ++nth) {
        hbf::testing::fail_allocation(nth);
        std::unique_ptr<Engine> engine;
        try {
            engine = make_thread_engine(8);
        } catch (const std::bad_alloc &) { // not one could be made
        }
        struck = hbf::testing::allocation_failed();
        hbf::testing::fail_allocation(0);
        if (!engine) continue;
        char byte = 0;
        engine->push({.fd = -1, .data = reinterpret_cast<std::byte *>(&byte), .size = 1});
        IoDone done;
        while (engine->reap({&done, 1}, forever) == 0) {
        }
        EXPECT_EQ(done.result, -EBADF);
    }
}

// A signal is the host's: none of its handlers may run on a thread of ours.
TEST_F(FaultsTest, ThreadsTakeNoSignals) {
    static std::atomic<bool> blocked;
    blocked = false;
    IoCalls calls = system_io;
    calls.read = [](int, void *, size_t size, off_t) {
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, nullptr, &mask);
        blocked = sigismember(&mask, SIGTERM) == 1 && sigismember(&mask, SIGUSR1) == 1;
        return static_cast<ssize_t>(size);
    };
    auto engine = make_thread_engine(1, calls);
    engine->push({.fd = 0, .size = 1});
    IoDone done;
    while (engine->reap({&done, 1}, forever) == 0) {
    }
    EXPECT_TRUE(blocked);
    sigset_t mine;
    pthread_sigmask(SIG_SETMASK, nullptr, &mine);
    EXPECT_EQ(sigismember(&mine, SIGTERM), 0) << "ours is as it was";
}

// Partial blocks go by the calls table, not by the engine.
struct CallFaults {
    static inline std::atomic<int> error{0};
    static ssize_t read(int fd, void *data, size_t size, off_t offset) {
        if (error) return errno = error, -1;
        return system_io.read(fd, data, size, offset);
    }
};

TEST_F(FaultsTest, PartialBlocksReportErrorsToo) {
    StorageInternals internals;
    internals.calls.read = CallFaults::read;
    internals.engine = [](uint32_t capacity) { return make_thread_engine(capacity); };
    StorageOptions options;
    options.path = scratch_.path();
    auto tier = open_storage(options, {}, internals);
    hbf_tier_info info{};
    tier->describe(info);
    if (info.flags & HBF_TIER_FLAG_DEGRADED) GTEST_SKIP() << "no O_DIRECT here, so no partial blocks: " << info.detail;
    auto file = tier->create(1 << 20, "", false);
    auto channel = tier->create_channel(1);
    auto data = pattern(8, 0, 10);
    CallFaults::error = EIO;
    IoResult result = write(*channel, *file, 5000, data.data(), 10);
    CallFaults::error = 0;
    EXPECT_EQ(result.status, HBF_DEVICE_LOST) << result.message;
    EXPECT_EQ(write(*channel, *file, 5000, data.data(), 10).status, HBF_OK);
    std::vector<std::byte> got(10);
    ASSERT_EQ(read(*channel, *file, 5000, got.data(), 10).status, HBF_OK);
    EXPECT_EQ(got, data);
}

} // namespace
} // namespace hbf::host
