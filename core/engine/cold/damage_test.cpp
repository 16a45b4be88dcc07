// SPDX-License-Identifier: Apache-2.0
// Disks that are full, fail, or change what they were given.
#include <cerrno>
#include <fstream>

#include <sys/resource.h>
#include <unistd.h>

#include "core/engine/cold/testing/cold.hpp"

namespace hbf::kv::cold {
namespace {

using namespace testing;

class ColdDamage : public ::testing::Test {
protected:
    std::unique_ptr<Log> open(uint64_t segments = 8) { return must(Log::open(options_for(scratch, segments))); }
    // Of the first batch of the first segment, its entries in order.
    static uint64_t place_of_entry(uint32_t index) { return first_batch + page_size + index * granule_size; }
    std::filesystem::path file(const char *name) const { return scratch.log() / name; }
    Scratch scratch;
};

TEST_F(ColdDamage, AFlippedBitIsToldOnceAndNeverGivenOut) {
    auto log = open();
    append(*log, 1, 7);
    must(log->commit());
    for (uint32_t i = 0; i < 5; ++i) append(*log, i, 8); // another batch, with a newer one of key 1
    must(log->commit());
    auto reader = must(log->make_reader());
    const uint64_t second = first_batch + page_size + granule_size + page_size;
    flip(file("segment-000000"), second + granule_size + 1234);
    const auto got = read_generation(*reader, 1);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, Code::data_loss);
    EXPECT_EQ(got.error().offset, second + granule_size);
    EXPECT_EQ(got.error().place, file("segment-000000"));
    EXPECT_NE(got.error().message.find("segment-000000"), std::string::npos) << got.error().message;
    EXPECT_EQ(log->stats().lost, 1u);
    EXPECT_EQ(read_generation(*reader, 1).error().code, Code::unavailable);
    for (const uint32_t other : {0u, 2u, 3u, 4u}) EXPECT_TRUE(read_generation(*reader, other));
    must(log->close());
    reader.reset();
    log.reset();
    EXPECT_FALSE(open()->find(key(1))) << "an older one came up";
}

TEST_F(ColdDamage, ADamagedBatchTakesNoOtherWithIt) {
    {
        auto log = open();
        for (uint32_t i = 0; i < 6; ++i) {
            append(*log, i, 1);
            must(log->commit());
        }
        for (uint32_t i = 10; i < 40; ++i) append(*log, i, 1); // so that the first segment is finished
    }
    flip(file("segment-000000"), first_batch + 2 * (page_size + granule_size) + 200);
    for (int opening = 0; opening < 2; ++opening) {
        auto log = open();
        EXPECT_EQ(log->stats().damaged_batches, opening == 0 ? 1u : 0u) << "mended, and said once";
        EXPECT_EQ(log->notes().size(), opening == 0 ? 1u : 0u);
        auto reader = must(log->make_reader());
        for (uint32_t i = 0; i < 40; ++i)
            EXPECT_EQ(read_generation(*reader, i).has_value(), i != 2 && (i < 6 || i >= 10)) << i;
        EXPECT_FALSE(log->find(key(2)));
    }
}

TEST_F(ColdDamage, ATornTailIsDroppedAndWrittenOver) {
    {
        auto log = open();
        for (uint32_t i = 0; i < 3; ++i) {
            append(*log, i, 1);
            must(log->commit());
        }
    }
    flip(file("segment-000000"), first_batch + 2 * (page_size + granule_size) + page_size + 77); // the last one's bytes
    {
        auto log = open();
        EXPECT_EQ(log->stats().torn_batches, 1u);
        EXPECT_FALSE(log->find(key(2)));
        append(*log, 5, 3);
        must(log->commit());
    }
    auto log = open();
    auto reader = must(log->make_reader());
    for (const uint32_t i : {0u, 1u, 5u}) EXPECT_TRUE(read_generation(*reader, i));
    EXPECT_EQ(log->stats().torn_batches, 0u);
}

TEST_F(ColdDamage, ASegmentThatIsCutShortOrHasNoPageLosesOnlyItself) {
    for (const bool cut : {true, false}) {
        std::filesystem::remove_all(scratch.log());
        {
            auto log = open();
            for (uint32_t i = 0; i < 40; ++i) append(*log, i, 1);
        }
        if (cut)
            std::filesystem::resize_file(file("segment-000001"), 300000);
        else
            flip(file("segment-000001"), 40);
        auto log = open();
        EXPECT_TRUE(log->find(key(0)));
        EXPECT_FALSE(log->find(key(20)));
        EXPECT_TRUE(log->find(key(39)));
        for (uint32_t i = 100; i < 200; ++i) append(*log, i, 1);
        must(log->commit());
        EXPECT_TRUE(log->find(key(199)));
        EXPECT_EQ(log->notes().size(), cut ? 1u : 0u);
    }
}

TEST_F(ColdDamage, AFullDiskLeavesWhatIsThereAndMakesDo) {
    uint64_t room = 0;
    Calls calls = system_calls();
    calls.allocate = [&](int fd, uint64_t size) {
        if (size == 1 << 20 && room == 0) return ENOSPC;
        if (size == 1 << 20) --room;
        return system_calls().allocate(fd, size);
    };
    LogOptions options = options_for(scratch, 8);
    options.calls = &calls;
    auto log = must(Log::open(options));
    const auto none = log->append(key(1), 1, bytes_of(1, 1, 100));
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Code::exhausted) << none.error().message;
    room = 2;
    for (uint32_t i = 0; i < 100; ++i) append(*log, i, 1);
    must(log->commit());
    EXPECT_EQ(log->stats().segments, 2u);
    EXPECT_GT(log->stats().refused_growths, 0u);
    EXPECT_EQ(log->notes().size(), 1u);
    auto reader = must(log->make_reader());
    EXPECT_TRUE(read_generation(*reader, 99));
    room = 100; // somebody made room
    for (uint32_t i = 100; i < 200; ++i) append(*log, i, 1);
    must(log->commit());
    EXPECT_GT(log->stats().segments, 2u);
}

// A file size limit is a full disk of the kernel's own making; what is beyond it must not end the process by a signal.
TEST_F(ColdDamage, AFileSizeLimitIsAFullDisk) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    auto log = open();
    rlimit limit = before;
    limit.rlim_cur = 500000;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    const auto got = log->append(key(1), 1, bytes_of(1, 1, 100));
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, Code::exhausted);
    append(*log, 1, 1);
    must(log->commit());
}

TEST_F(ColdDamage, AfterAnErrorOfTheMediumNothingIsWrittenAndReadingGoesOn) {
    for (const bool of_sync : {true, false}) {
        std::filesystem::remove_all(scratch.log());
        int failing = 0;
        Calls calls = system_calls();
        calls.write = [&](int fd, const void *data, size_t size, uint64_t offset) -> int64_t {
            if (failing && !of_sync && size > page_size) return errno = EIO, -1;
            return system_calls().write(fd, data, size, offset);
        };
        calls.sync = [&](int fd) { return failing && of_sync ? EIO : system_calls().sync(fd); };
        LogOptions options = options_for(scratch);
        options.calls = &calls;
        options.uring = false;
        auto log = must(Log::open(options));
        append(*log, 1, 1);
        must(log->commit());
        failing = 1;
        append(*log, 1, 2);
        const auto commit = log->commit();
        ASSERT_FALSE(commit);
        EXPECT_EQ(commit.error().code, Code::data_loss) << commit.error().message;
        failing = 0;
        EXPECT_EQ(log->append(key(2), 1, bytes_of(2, 1, 10)).error().code, Code::data_loss) << "as if nothing had been";
        EXPECT_FALSE(log->commit());
        auto reader = must(log->make_reader());
        EXPECT_EQ(must(read_generation(*reader, 1)), 1u);
        EXPECT_FALSE(log->close());
        log.reset();
        log = open();
        reader = must(log->make_reader());
        EXPECT_GE(must(read_generation(*reader, 1)), 1u);
    }
}

TEST_F(ColdDamage, CallsThatFallShortAreGoneOnWith) {
    Calls calls = system_calls();
    const auto piece = [](size_t size) { return size > page_size ? size / 2 / page_size * page_size : size; };
    calls.read = [&](int fd, void *data, size_t size, uint64_t offset) {
        return system_calls().read(fd, data, piece(size), offset);
    };
    calls.write = [&](int fd, const void *data, size_t size, uint64_t offset) {
        return system_calls().write(fd, data, piece(size), offset);
    };
    LogOptions options = options_for(scratch, 4);
    options.calls = &calls;
    options.uring = false;
    auto log = must(Log::open(options));
    for (uint32_t i = 0; i < 100; ++i) append(*log, i, 1);
    must(log->commit());
    auto reader = must(log->make_reader());
    for (uint32_t i = 90; i < 100; ++i) EXPECT_TRUE(read_generation(*reader, i));
}

TEST_F(ColdDamage, AFlipOnTheWayIsGoneWhenItIsReadAgain) {
    int flips = 0;
    Calls calls = system_calls();
    calls.read = [&](int fd, void *data, size_t size, uint64_t offset) {
        const int64_t got = system_calls().read(fd, data, size, offset);
        if (flips > 0 && flips--) static_cast<char *>(data)[17] ^= 4;
        return got;
    };
    LogOptions options = options_for(scratch);
    options.calls = &calls;
    options.uring = false;
    auto log = must(Log::open(options));
    append(*log, 1, 1);
    must(log->commit());
    auto reader = must(log->make_reader());
    flips = 1;
    EXPECT_TRUE(read_generation(*reader, 1));
    EXPECT_EQ(log->stats().reread, 1u);
    EXPECT_EQ(log->stats().lost, 0u);
}

TEST_F(ColdDamage, AWipeLeavesNoByteOfTheTenant) {
    const auto marker = bytes_of(3, 1, granule_size);
    {
        auto log = open();
        for (uint32_t i = 0; i < 40; ++i) append(*log, i, 1);
        must(log->commit());
        auto reader = must(log->make_reader());
        ASSERT_TRUE(read_generation(*reader, 3));
        append(*log, 50, 1); // not committed
        must(log->wipe(id(5)));
        EXPECT_EQ(read_generation(*reader, 3).error().code, Code::unavailable);
        EXPECT_EQ(log->stats().granules, 0u);
        append(*log, 60, 1);
        must(log->commit());
        EXPECT_TRUE(read_generation(*reader, 60));
        EXPECT_FALSE(log->find(key(50)));
    }
    const std::string_view needle(reinterpret_cast<const char *>(marker.data()), 64);
    for (const auto &entry : std::filesystem::directory_iterator(scratch.log())) {
        std::ifstream in(entry.path(), std::ios::binary);
        const std::string all(std::istreambuf_iterator<char>(in), {});
        EXPECT_EQ(all.find(needle), std::string::npos) << entry.path();
    }
    LogOptions options = options_for(scratch);
    const auto refused = Log::open(options);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("another tenant"), std::string::npos) << refused.error().message;
    options.wipe_other_tenant = true;
    auto log = must(Log::open(options));
    EXPECT_FALSE(log->find(key(60)));
    EXPECT_EQ(log->notes().size(), 1u);
    append(*log, 1, 1);
    must(log->commit());
}

} // namespace
} // namespace hbf::kv::cold
