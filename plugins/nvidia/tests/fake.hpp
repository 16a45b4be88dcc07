// SPDX-License-Identifier: Apache-2.0
// A table of the driver's functions over plain memory: what a test sets is what it answers. Work is done inside of the call
// that asks for it, which CUDA allows; what needs time, other engines or a device that dies is the emulated runtime's.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hbf/sdk/failure.hpp"
#include "hbf/sdk/log.hpp"
#include "plugins/nvidia/context.hpp"

namespace hbf::nvidia {

struct FakeDevice {
    std::string name = "Fake GPU", pci = "0000:3B:00.0";
    std::map<int, int> attributes = {{cuda::unified_addressing, 1},
                                     {cuda::virtual_memory, 1},
                                     {cuda::host_register, 1},
                                     {cuda::major, 9},
                                     {cuda::minor, 0},
                                     {cuda::bus_width, 5120},
                                     {cuda::multiprocessors, 4},
                                     {cuda::max_window, 4096},
                                     {cuda::max_persisting_l2, 4096}};
    uint64_t memory = 64 << 20;
    uint64_t used = 0;
};

struct Fake {
    struct Block {
        uint64_t size = 0;
        int home = -1; // device; -1: nothing mapped yet
    };
    std::mutex mutex;
    std::vector<FakeDevice> devices = {FakeDevice{}};
    cuda::Result init = cuda::success;
    bool stale_host = false; // what is read of the host's memory is not what the CPU wrote
    bool can_access_peers = true, drop_peer_copies = false, drop_peer_stores = false, free_unknown = false;
    std::map<std::string, cuda::Result> refuse; // function -> code of its next call
    std::map<std::string, cuda::Result> broken; // of each
    std::map<std::string, int> calls;
    int fail_nth = 0;                 // of calls that take something: out of memory
    std::map<uint64_t, Block> blocks; // by address
    std::map<cuda::Handle, std::pair<int, uint64_t>> handles;
    std::map<uint64_t, uint64_t> registered; // begin -> end
    std::map<int, int> retained;             // device -> count
    std::vector<cuda::Context> current;      // of all threads: tests have one
    int live_streams = 0, live_events = 0;
    size_t l2_limit = 7;
    cuda::AccessWindow window{};
    cuda::Handle next_handle = 1;

    std::string left(); // what was not given back; "" if all was
};

Fake &fake();         // the one of this test
void new_fake();      // anew, as it is made
Driver fake_driver(); // with batches

class OnFake : public ::testing::Test {
protected:
    OnFake() {
        new_fake();
        services.struct_size = sizeof services;
        services.context = this;
        services.log = [](void *self, hbf_log_level, hbf_string message) noexcept {
            static_cast<OnFake *>(self)->logged += std::string(message.data, message.size) + "\n";
        };
    }
    ~OnFake() override { EXPECT_EQ(fake().left(), ""); }
    sdk::Log log() const { return sdk::Log(&services); }
    std::unique_ptr<Context> open(int ordinal = 0) { return std::make_unique<Context>(driver, read_facts(driver, ordinal)); }
    // Why it was refused; HBF_OK if it was not.
    template <class Call>
    static sdk::Failure refusal(const Call &call) {
        try {
            call();
        } catch (const sdk::Failure &failure) {
            return failure;
        }
        return {HBF_OK, "it was not refused"};
    }

    hbf_host_services services{};
    std::string logged;
    Driver driver = fake_driver();
};

} // namespace hbf::nvidia
