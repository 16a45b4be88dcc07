// SPDX-License-Identifier: Apache-2.0
// Queues and regions for tests, used through the C table that the host sees.
#pragma once

#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_storage_test.hpp"
#include "hbf/sdk/shell/queue_shell.hpp"
#include "host_queue.hpp"

namespace hbf::host::testing {

using ::testing::HasSubstr;

inline hbf_command copy_command(hbf_region dst, uint64_t dst_offset, hbf_region src, uint64_t src_offset, uint64_t size,
                                uint32_t *crc = nullptr) {
    hbf_command command{};
    command.kind = HBF_COMMAND_COPY;
    command.flags = crc ? HBF_COPY_CRC32C : 0;
    command.u.copy = {dst, dst_offset, src, src_offset, size, crc};
    return command;
}
inline hbf_command fill_command(hbf_region dst, uint64_t offset, uint64_t size, uint64_t pattern, uint32_t width) {
    hbf_command command{};
    command.kind = HBF_COMMAND_FILL;
    command.u.fill = {dst, offset, size, pattern, width, 0};
    return command;
}
inline hbf_command range_command(hbf_command_kind kind, hbf_region region, uint64_t offset, uint64_t size) {
    hbf_command command{};
    command.kind = kind;
    command.u.range = {region, offset, size};
    return command;
}
inline hbf_command wait_command(hbf_queue *queue = nullptr, uint64_t value = 0) {
    hbf_command command{};
    command.kind = HBF_COMMAND_WAIT;
    command.u.wait = {queue, value};
    return command;
}

inline void scramble(std::byte *bytes, size_t size, uint32_t seed) {
    std::mt19937_64 random(seed);
    for (; size >= 8; bytes += 8, size -= 8) {
        const uint64_t word = random();
        memcpy(bytes, &word, 8);
    }
    for (; size; ++bytes, --size) *bytes = static_cast<std::byte>(random());
}

struct Outcome {
    hbf_status status = HBF_OK;
    uint64_t value = 0;
    std::string message;
    hbf_region region = 0;
    uint64_t offset = HBF_NO_PLACE;
};

class TestQueue {
public:
    TestQueue(RegionTable &regions, StorageTier *storage, std::shared_ptr<WorkerPool> workers,
              sdk::QueueRequest request = {}) {
        shell_.queue = make_host_queue(request, regions, storage, std::move(workers));
    }
    ~TestQueue() { (void)shell_.finish(); }
    hbf_queue *handle() { return shell_.handle(); }

    Outcome submit(const std::vector<hbf_command> &commands) {
        hbf_batch batch{};
        batch.struct_size = sizeof batch;
        batch.command_stride = sizeof(hbf_command);
        batch.commands = commands.data();
        batch.command_count = commands.size();
        uint64_t value = 0;
        Outcome outcome =
            with_error([&](hbf_error *error) { return sdk::shell::queue_submit(handle(), &batch, &value, error); });
        outcome.value = value;
        return outcome;
    }
    hbf_progress poll() {
        hbf_progress progress{};
        progress.struct_size = sizeof progress;
        EXPECT_EQ(sdk::shell::queue_poll(handle(), &progress), HBF_OK);
        return progress;
    }
    Outcome wait(uint64_t value, uint64_t timeout_ns = UINT64_MAX) {
        return with_error([&](hbf_error *error) { return sdk::shell::queue_wait(handle(), value, timeout_ns, error); });
    }
    Outcome cancel(uint64_t value) {
        return with_error([&](hbf_error *error) { return sdk::shell::queue_cancel(handle(), value, error); });
    }
    Outcome failure() {
        return with_error([&](hbf_error *error) { return sdk::shell::queue_failure(handle(), error); }, true);
    }
    bool idle() { return shell_.queue->idle(); }

    // Submits, waits, and expects success.
    void run(const std::vector<hbf_command> &commands) {
        const Outcome submitted = submit(commands);
        ASSERT_EQ(submitted.status, HBF_OK) << submitted.message;
        ASSERT_EQ(wait(submitted.value).status, HBF_OK);
        ASSERT_EQ(poll().status, HBF_OK) << failure().message;
    }

private:
    template <class Call>
    static Outcome with_error(const Call &call, bool always = false) {
        Outcome outcome;
        char text[512] = "";
        hbf_error error{};
        error.struct_size = sizeof error;
        error.message = text;
        error.capacity = sizeof text;
        error.offset = HBF_NO_PLACE;
        outcome.status = call(&error);
        if (outcome.status != HBF_OK || always)
            outcome.message = text, outcome.region = error.region, outcome.offset = error.offset;
        return outcome;
    }

    alignas(16) std::byte owner_[16] = {}; // the shell only keeps its address
    sdk::shell::QueueShell shell_{reinterpret_cast<sdk::shell::InstanceShell &>(owner_), 0};
};

class QueueTest : public ::testing::Test {
protected:
    hbf_region memory(size_t size, uint32_t seed = 0) {
        auto &bytes = memories_.emplace_back(std::make_unique<std::vector<std::byte>>(size));
        if (seed != 0) scramble(bytes->data(), size, seed);
        return register_memory(bytes->data(), size);
    }
    hbf_region register_memory(std::byte *address, size_t size) {
        HostRegion region;
        region.address = address;
        region.size = size;
        return regions_.insert(std::move(region));
    }
    hbf_region file(size_t size, uint32_t seed = 0) {
        HostRegion region;
        region.file = storage_.create(size, "", false);
        region.size = size;
        const hbf_region handle = regions_.insert(std::move(region));
        if (seed != 0) scramble(stored(handle).data(), size, seed);
        return handle;
    }
    std::byte *at(hbf_region region, uint64_t offset = 0) { return regions_.find(region)->address + offset; }
    std::vector<std::byte> &stored(hbf_region region) {
        return static_cast<FakeFile *>(regions_.find(region)->file.get())->bytes;
    }
    TestQueue &queue(sdk::QueueRequest request = {}) {
        queues_.push_back(std::make_unique<TestQueue>(regions_, &storage_, workers_, request));
        return *queues_.back();
    }
    // A value of another queue that completes when the test says open().
    struct Gate {
        TestQueue *queue;
        uint64_t value;
    };
    Gate gate() {
        storage_.control.hold(0);
        if (!gate_file_) gate_file_ = file(4096), gate_memory_ = memory(4096);
        TestQueue &made = queue();
        return {&made, made.submit({copy_command(gate_memory_, 0, gate_file_, 0, 4096)}).value};
    }
    void open() { storage_.control.let_finish(); }

    FakeStorage storage_;
    RegionTable regions_;
    std::shared_ptr<WorkerPool> workers_ = make_worker_pool(2);
    std::vector<std::unique_ptr<std::vector<std::byte>>> memories_;
    hbf_region gate_file_ = 0, gate_memory_ = 0;
    std::vector<std::unique_ptr<TestQueue>> queues_; // end first

    void TearDown() override { open(); }
};

} // namespace hbf::host::testing
