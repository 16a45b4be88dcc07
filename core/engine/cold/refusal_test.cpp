// SPDX-License-Identifier: Apache-2.0
// What a log does not open for, and what it says then. Nothing that is refused changes a byte.
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include "core/engine/cold/testing/cold.hpp"
#include "core/engine/cold/view.hpp"

namespace hbf::kv::cold {
namespace {

using namespace testing;

class ColdRefusal : public ::testing::Test {
protected:
    void SetUp() override {
        auto log = must(Log::open(options));
        append(*log, 1, 1);
        must(log->close());
    }
    void TearDown() override {
        ::chmod(scratch.log().c_str(), 0700);
        ::chmod((scratch.log() / "log").c_str(), 0600);
        auto log = Log::open(options);
        EXPECT_TRUE(!whole || (log && (*log)->find(key(1)))) << "something was lost";
    }
    void expect_refused(const LogOptions &wanted, Code code, const std::string &words) {
        const auto got = Log::open(wanted);
        ASSERT_FALSE(got) << words;
        EXPECT_EQ(got.error().code, code) << got.error().message;
        EXPECT_NE(got.error().message.find(words), std::string::npos) << got.error().message;
        EXPECT_NE(got.error().message.find(wanted.folder.string()), std::string::npos) << got.error().message;
    }
    Scratch scratch;
    LogOptions options = options_for(scratch);
    bool whole = true;
};

TEST_F(ColdRefusal, AnotherModelLayoutTenantOrSegmentSize) {
    LogOptions other = options;
    other.owner.model = id(9);
    expect_refused(other, Code::invalid, "KV of model e80300000000 (a model of tests), asked for is 090000000000");
    other.wipe_other_tenant = true; // of a tenant, not of a model
    expect_refused(other, Code::invalid, "KV of model");
    other = options;
    other.owner.layout = id(9);
    expect_refused(other, Code::invalid, "KV of layout");
    other = options;
    other.owner.tenant = id(9);
    expect_refused(other, Code::invalid, "another tenant");
    other = options;
    other.segment_bytes = 2 << 20;
    other.capacity *= 2;
    expect_refused(other, Code::invalid, "segments of 1048576");
    const auto view = View::open(options.folder, other.owner);
    EXPECT_TRUE(view);
    other.owner.model = id(9);
    EXPECT_EQ(View::open(options.folder, other.owner).error().code, Code::invalid);
}

TEST_F(ColdRefusal, OptionsThatCannotBe) {
    LogOptions other = options;
    other.capacity = (3 << 20) - 1;
    expect_refused(other, Code::invalid, "at least three segments");
    other.capacity = UINT64_MAX;
    expect_refused(other, Code::invalid, "more than 65536 segments");
    for (const uint64_t size : {1ull, 1ull << 19, (1ull << 20) + 512, 1ull << 31}) {
        other = options;
        other.segment_bytes = size;
        expect_refused(other, Code::invalid, "segments of " + std::to_string(size));
    }
    other = options;
    other.owner.model = {};
    expect_refused(other, Code::invalid, "a model and a layout");
    other = options;
    other.folder = scratch.log() / "a" / "b";
    expect_refused(other, Code::unavailable, "No such file");
    other.folder = scratch.log() / "log";
    expect_refused(other, Code::unavailable, "Not a directory");
    EXPECT_EQ(View::open(scratch.log() / "a", options.owner).error().code, Code::unavailable);
}

TEST_F(ColdRefusal, ASecondWriterInThisProcessToo) {
    {
        auto log = must(Log::open(options));
        expect_refused(options, Code::busy, "process " + std::to_string(::getpid()) + " writes this log");
        const auto view = View::open(options.folder, options.owner);
        ASSERT_TRUE(view) << view.error().message;
        const auto wipe = log->wipe(id(5));
        ASSERT_FALSE(wipe);
        EXPECT_EQ(wipe.error().code, Code::busy) << wipe.error().message;
        append(*log, 2, 1); // it goes on
        must(log->commit());
    }
    EXPECT_TRUE(Log::open(options)) << "the lock is gone";
}

TEST_F(ColdRefusal, WhatOthersCouldReadOrChange) {
    struct stat facts = {};
    ASSERT_EQ(::stat(scratch.log().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0700u);
    ::chmod((scratch.log() / "log").c_str(), 0640);
    expect_refused(options, Code::permission, "mode 0640");
    ::chmod((scratch.log() / "log").c_str(), 0600);
    ::chmod(scratch.log().c_str(), 0770);
    expect_refused(options, Code::permission, "mode 0770");
    ::chmod(scratch.log().c_str(), 0700);
    const auto segment = scratch.log() / "segment-000000";
    ::chmod(segment.c_str(), 0604);
    const auto got = Log::open(options);
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, Code::permission) << got.error().message;
    ::chmod(segment.c_str(), 0600);
}

TEST_F(ColdRefusal, ALinkInTheStead) {
    const auto segment = scratch.log() / "segment-000000", elsewhere = scratch.log() / "elsewhere";
    std::filesystem::rename(segment, elsewhere);
    std::filesystem::create_symlink(elsewhere, segment);
    EXPECT_FALSE(Log::open(options));
    std::filesystem::remove(segment);
    std::filesystem::rename(elsewhere, segment);
}

TEST_F(ColdRefusal, ADamagedSuperblock) {
    flip(scratch.log() / "log", 100);
    expect_refused(options, Code::data_loss, "remove the folder");
    EXPECT_EQ(View::open(options.folder, options.owner).error().code, Code::data_loss);
    flip(scratch.log() / "log", 100);
    flip(scratch.log() / "log", 8); // the version
    expect_refused(options, Code::invalid, "is of format 0");
    flip(scratch.log() / "log", 8);
    std::filesystem::resize_file(scratch.log() / "log", 5000);
    expect_refused(options, Code::data_loss, "remove the folder");
    std::filesystem::resize_file(scratch.log() / "log", 100);
    expect_refused(options, Code::data_loss, "too early");
    whole = false;
}

TEST_F(ColdRefusal, GranulesAndReadsThatCannotBe) {
    auto log = must(Log::open(options));
    EXPECT_EQ(log->append(key(1), 1, {}).error().code, Code::invalid);
    EXPECT_EQ(log->append(key(1), 1, bytes_of(1, 1, granule_size + 1)).error().code, Code::invalid);
    EXPECT_EQ(log->make_reader(0).error().code, Code::invalid);
    EXPECT_EQ(log->make_reader(5000).error().code, Code::invalid);
    auto reader = must(log->make_reader(1));
    const Pages memory(2 * granule_size);
    EXPECT_EQ(reader->read(key(1), memory.data() + 512, granule_size).error().code, Code::invalid);
    EXPECT_EQ(reader->read(key(1), memory.data(), granule_size - 1).error().code, Code::invalid);
    EXPECT_TRUE(reader->read(key(1), memory.data(), granule_size));
}

TEST(ColdFolder, EachModelLayoutAndTenantHasItsOwn) {
    const Owner owner{id(1), id(2), {}, ""};
    EXPECT_EQ(folder_of("/x", owner), "/x/model-010000000000000000000000-layout-020000000000000000000000");
    Owner tenant = owner;
    tenant.tenant = id(3);
    EXPECT_EQ(folder_of("/x", tenant).string(), folder_of("/x", owner).string() + "-tenant-030000000000000000000000");
}

} // namespace
} // namespace hbf::kv::cold
