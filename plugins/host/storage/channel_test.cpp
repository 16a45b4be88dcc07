// SPDX-License-Identifier: Apache-2.0
// A channel against a model: any offset, size and address, through each engine, with and without O_DIRECT.
#include <barrier>
#include <cstring>
#include <random>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>

#include "alignment.hpp"
#include "channel.hpp"
#include "fd.hpp"
#include "testing.hpp"
#include "thread_engine.hpp"
#include "uring_engine.hpp"

namespace hbf::host {
namespace {

using namespace testing;

class PlainFile final : public File { // an open file as it is
public:
    PlainFile(Fd fd, uint64_t size, uint64_t stored, Alignment alignment)
        : File({fd.get(), 0, size, stored, alignment, "test file"}), fd_(std::move(fd)) {}
    void publish() override {}

private:
    Fd fd_;
};

enum class Kind { uring, threads };
struct Setup {
    Kind kind;
    bool direct;
};

class ChannelTest : public ::testing::TestWithParam<Setup> {
protected:
    void SetUp() override {
        if (GetParam().kind != Kind::uring) return;
        if (auto failure = failure_of([] { make_uring_engine(1); }); failure.status != HBF_OK)
            GTEST_SKIP() << failure.message;
    }

    std::unique_ptr<Channel> channel(uint32_t depth, uint32_t pieces = 32) const {
        auto engine = GetParam().kind == Kind::uring ? make_uring_engine(pieces) : make_thread_engine(pieces);
        return std::make_unique<Channel>(std::move(engine), depth, system_io, PieceLimits{64 << 10, 16 << 10});
    }

    std::unique_ptr<PlainFile> make_file(uint64_t size) const {
        Fd fd(::open(scratch_.path().c_str(), O_TMPFILE | O_RDWR | (GetParam().direct ? O_DIRECT : 0), 0600));
        if (!fd) return nullptr;
        const uint64_t stored = std::max<uint64_t>((size + 4095) / 4096 * 4096, 65536);
        EXPECT_EQ(::ftruncate(fd.get(), static_cast<off_t>(stored)), 0);
        Alignment alignment;
        if (GetParam().direct) {
            auto found = direct_alignment(fd.get());
            if (!found) return nullptr;
            alignment = *found;
        }
        return std::make_unique<PlainFile>(std::move(fd), size, stored, alignment);
    }

    ScratchDirectory scratch_;
};

#define FILE_OR_SKIP(name, size)                                                                                            \
    auto name = make_file(size);                                                                                            \
    if (!name) GTEST_SKIP() << "no O_DIRECT, or no O_TMPFILE, in " << scratch_.path()

TEST_P(ChannelTest, AgreesWithAModelOfMemory) {
    constexpr uint64_t size = 300001;
    FILE_OR_SKIP(file, size);
    auto channel = this->channel(8);
    std::vector<std::byte> model(size);
    auto memory = aligned_bytes(size + 8192);
    std::mt19937_64 random(GetParam().direct ? 11 : 12);
    for (int round = 0; round < 300; ++round) {
        const uint64_t unit = random() % 3 ? 1 : 512;
        const uint64_t offset = random() % size / unit * unit;
        const uint64_t most = std::min<uint64_t>(size - offset, random() % 4 ? 9000 : size);
        const uint64_t length = 1 + random() % most;
        std::byte *at = memory.get() + (random() % 2 ? 0 : random() % 4096);
        if (random() % 2) {
            auto data = pattern(random(), offset, length);
            std::memcpy(at, data.data(), length);
            std::memcpy(model.data() + offset, data.data(), length);
            IoResult result = write(*channel, *file, offset, at, length);
            ASSERT_EQ(result.status, HBF_OK) << result.message;
        } else {
            std::memset(memory.get(), 0xee, size + 8192);
            IoResult result = read(*channel, *file, offset, at, length);
            ASSERT_EQ(result.status, HBF_OK) << result.message;
            ASSERT_EQ(std::memcmp(at, model.data() + offset, length), 0) << "offset " << offset << " size " << length;
            ASSERT_EQ(at[length], std::byte{0xee}) << "wrote past the buffer";
            if (at > memory.get()) {
                ASSERT_EQ(at[-1], std::byte{0xee}) << "wrote before the buffer";
            }
        }
    }
}

TEST_P(ChannelTest, NeighboursInOneBlockDoNotUndoEachOther) {
    FILE_OR_SKIP(file, 65536);
    // Two threads walk the same blocks at the same time, each with every other part of each.
    constexpr unsigned parts = 64, length = 8192 / parts, rounds = 20;
    std::vector<std::vector<std::byte>> data;
    for (unsigned round = 0; round < rounds; ++round) data.push_back(pattern(round, 0, 8192));
    std::barrier together(2);
    std::vector<std::byte> got(8192);
    auto reader = this->channel(1);
    auto writer = [&](unsigned first) {
        auto channel = this->channel(parts);
        for (unsigned round = 0; round < rounds; ++round) {
            together.arrive_and_wait();
            for (unsigned part = first; part < parts; part += 2)
                channel->write(*file, part * length, data[round].data() + part * length, length, part);
            for (unsigned done = 0; done < parts / 2;) {
                IoResult results[4];
                const size_t count = channel->reap(results, forever);
                for (size_t i = 0; i < count; ++i) EXPECT_EQ(results[i].status, HBF_OK) << results[i].message;
                done += static_cast<unsigned>(count);
            }
            together.arrive_and_wait();
            if (first != 0) continue;
            EXPECT_EQ(read(*reader, *file, 0, got.data(), got.size()).status, HBF_OK);
            EXPECT_EQ(got, data[round]) << "round " << round;
        }
    };
    std::thread other(writer, 1);
    writer(0);
    other.join();
}

TEST_P(ChannelTest, ManyAtOnceAllComeBackOnceWithTheirTags) {
    constexpr uint32_t depth = 24;
    FILE_OR_SKIP(file, depth * 100000);
    auto channel = this->channel(depth, 8); // fewer pieces at once than operations
    auto data = pattern(4, 0, depth * 100000);
    for (uint32_t i = 0; i < depth; ++i) {
        ASSERT_TRUE(channel->has_room());
        channel->write(*file, i * 100000, data.data() + i * 100000, 100000, 1000 + i);
    }
    EXPECT_FALSE(channel->has_room());
    EXPECT_EQ(failure_of([&] { channel->write(*file, 0, data.data(), 1, 0); }).status, HBF_EXHAUSTED);
    std::vector<int> seen(depth);
    while (channel->in_flight() > 0) {
        IoResult results[5];
        const size_t count = channel->reap(results, forever);
        for (size_t i = 0; i < count; ++i) {
            EXPECT_EQ(results[i].status, HBF_OK) << results[i].message;
            ++seen.at(results[i].tag - 1000);
        }
    }
    EXPECT_EQ(seen, std::vector<int>(depth, 1));
    std::vector<std::byte> got(data.size());
    ASSERT_EQ(read(*channel, *file, 0, got.data(), got.size()).status, HBF_OK);
    EXPECT_EQ(got, data);
}

TEST_P(ChannelTest, CrossesFourGiB) {
    constexpr uint64_t size = (4ull << 30) + (1 << 20); // sparse: only what is written takes space
    FILE_OR_SKIP(file, size);
    auto channel = this->channel(4);
    for (uint64_t offset : {(4ull << 30) - 70000, (4ull << 30) - 65536, (4ull << 30) - 1}) {
        auto data = pattern(offset, 0, 140000);
        ASSERT_EQ(write(*channel, *file, offset, data.data(), data.size()).status, HBF_OK);
        std::vector<std::byte> got(data.size());
        ASSERT_EQ(read(*channel, *file, offset, got.data(), got.size()).status, HBF_OK);
        EXPECT_EQ(got, data);
    }
    std::vector<std::byte> low(140000); // 32-bit offsets would have landed here
    ASSERT_EQ(read(*channel, *file, 0, low.data(), low.size()).status, HBF_OK);
    EXPECT_EQ(low, std::vector<std::byte>(low.size()));
}

TEST_P(ChannelTest, RangesOutsideAreRefused) {
    FILE_OR_SKIP(file, 5000);
    auto channel = this->channel(2);
    std::vector<std::byte> bytes(5001);
    for (auto [offset, length] : {std::pair<uint64_t, uint64_t>{0, 5001}, {5000, 1}, {UINT64_MAX, 2}, {1, UINT64_MAX}}) {
        IoResult result = read(*channel, *file, offset, bytes.data(), length);
        EXPECT_EQ(result.status, HBF_INVALID);
        EXPECT_EQ(write(*channel, *file, offset, bytes.data(), length).status, HBF_INVALID);
    }
    EXPECT_EQ(read(*channel, *file, 0, bytes.data(), 5000).status, HBF_OK);
}

TEST_P(ChannelTest, ReapWaitsNoLongerThanAsked) {
    FILE_OR_SKIP(file, 4096);
    auto channel = this->channel(2);
    IoResult result;
    EXPECT_EQ(channel->reap({&result, 1}, forever), 0u) << "nothing in flight: nothing to wait for";
    EXPECT_EQ(channel->reap({&result, 1}, 0), 0u);
}

TEST_P(ChannelTest, EndsOnlyWhenItsTransfersHave) {
    FILE_OR_SKIP(file, 8 << 20);
    auto data = aligned_bytes(8 << 20);
    auto expected = pattern(5, 0, 8 << 20);
    std::memcpy(data.get(), expected.data(), expected.size());
    {
        auto channel = this->channel(8);
        for (uint64_t i = 0; i < 8; ++i) channel->write(*file, i << 20, data.get() + (i << 20), 1 << 20, i);
        channel->kick();
    } // the memory may go now
    std::memset(data.get(), 0, 8 << 20);
    auto channel = this->channel(1);
    ASSERT_EQ(read(*channel, *file, 0, data.get(), 8 << 20).status, HBF_OK);
    EXPECT_EQ(std::memcmp(data.get(), expected.data(), expected.size()), 0);
}

TEST_P(ChannelTest, AnyThreadMayDriveItInTurn) {
    FILE_OR_SKIP(file, 1 << 20);
    auto channel = this->channel(4);
    auto data = pattern(6, 0, 1 << 20);
    std::thread([&] {
        channel->write(*file, 0, data.data(), data.size(), 1);
        channel->kick();
    }).join(); // the thread that submitted is gone before it completes
    IoResult result;
    while (channel->reap({&result, 1}, forever) == 0) {
    }
    EXPECT_EQ(result.status, HBF_OK) << result.message;
    std::vector<std::byte> got(data.size());
    ASSERT_EQ(read(*channel, *file, 0, got.data(), got.size()).status, HBF_OK);
    EXPECT_EQ(got, data);
}

INSTANTIATE_TEST_SUITE_P(Engines, ChannelTest,
                         ::testing::Values(Setup{Kind::uring, true}, Setup{Kind::uring, false}, Setup{Kind::threads, true},
                                           Setup{Kind::threads, false}),
                         [](const auto &variant) {
                             return std::string(variant.param.kind == Kind::uring ? "uring" : "threads") +
                                    (variant.param.direct ? "Direct" : "Buffered");
                         });

} // namespace
} // namespace hbf::host
