// SPDX-License-Identifier: Apache-2.0
// Power that goes at any point: of what was not brought to the medium, each 512 bytes are there or not, as they please.
#include <cerrno>
#include <map>

#include <unistd.h>

#include "core/common/testing/one_thread.hpp"
#include "core/engine/cold/testing/cold.hpp"

namespace hbf::kv::cold {
namespace {

using namespace testing;

// A disk with a cache that forgets.
class Disk {
public:
    Disk() {
        calls_ = system_calls();
        const Calls real = system_calls();
        calls_.read = [this, real](int fd, void *data, size_t size, uint64_t offset) -> int64_t {
            if (off_) return errno = EIO, -1;
            return real.read(fd, data, size, offset);
        };
        calls_.write = [this, real](int fd, const void *data, size_t size, uint64_t offset) -> int64_t {
            if (is_off()) return -1;
            for (uint64_t at = 0; at < size; at += sector) {
                auto &before = cached_[fd][offset + at];
                if (!before.empty()) continue;
                before.resize(sector);
                if (pread(fd, before.data(), sector, static_cast<off_t>(offset + at)) != sector) return -1;
            }
            return real.write(fd, data, size, offset);
        };
        calls_.sync = [this](int fd) {
            if (is_off()) return EIO;
            cached_.erase(fd);
            return 0;
        };
    }
    Calls &calls() { return calls_; }

    // After so many more writes and syncs.
    void go_off_after(int calls) { left_ = calls; }
    bool is_off() {
        errno = EIO;
        if (left_ > 0 && --left_ == 0) off_ = true;
        return off_;
    }
    // While the files are still open.
    void lose(std::mt19937 &random) {
        off_ = true;
        const unsigned kept = random() % 5; // of four; 4: nothing is lost
        for (auto &[fd, sectors] : cached_)
            for (auto &[offset, before] : sectors)
                if (random() % 4 >= kept && pwrite(fd, before.data(), sector, static_cast<off_t>(offset)) != sector)
                    throw std::runtime_error("cannot undo a write");
    }

private:
    static constexpr ssize_t sector = 512;
    Calls calls_;
    std::map<int, std::map<uint64_t, std::vector<char>>> cached_;
    int left_ = 0;
    bool off_ = false;
};

class ColdPower : public ::testing::TestWithParam<bool> {};

TEST_P(ColdPower, CommittedGranulesStayAndNothingElseComesUp) {
    HBF_ONE_THREAD();
    const bool narrow = GetParam(); // compaction and eviction all the time
    std::mt19937 random(seed());
    Scratch scratch;
    Memory memory;
    uint64_t generation = 0;
    uint64_t torn = 0, committed = 0;
    const int cuts = rounds("HBF_CUTS", 40);
    for (int cut = 0; cut < cuts || (torn == 0 && cut < 50 * cuts); ++cut) { // until one met a batch half written
        SCOPED_TRACE("seed " + std::to_string(seed()) + ", cut " + std::to_string(cut));
        Disk disk;
        LogOptions options = options_for(scratch, narrow ? 4 : 24);
        options.calls = &disk.calls();
        options.uring = options.direct = false;
        auto log = must(Log::open(options));
        torn += log->stats().torn_batches;
        EXPECT_EQ(log->stats().damaged_batches, 0u);
        memory.check(*log, narrow);
        if (::testing::Test::HasFailure()) return;
        EXPECT_TRUE(narrow || log->stats().evicted == 0);
        disk.go_off_after(1 + static_cast<int>(random() % 60));
        for (bool on = true; on;) {
            const uint32_t number = random() % 40;
            switch (random() % 8) {
            case 0:
                memory.stage(number, Memory::absent);
                on = log->remove(key(number)).has_value();
                break;
            case 1:
            case 2:
                on = log->commit().has_value();
                if (on) memory.commit();
                committed += on;
                break;
            default:
                ++generation;
                memory.stage(number, generation);
                const size_t size = random() % 2 ? granule_size : 1 + random() % granule_size;
                on = log->append(key(number), generation, bytes_of(number, generation, size)).has_value();
            }
        }
        disk.lose(random);
    }
    EXPECT_GT(committed, 0u);
    EXPECT_GT(torn, 0u) << "no batch was ever torn: nothing was tested";
}

INSTANTIATE_TEST_SUITE_P(Room, ColdPower, ::testing::Bool(),
                         [](const auto &room) { return room.param ? "narrow" : "wide"; });

} // namespace
} // namespace hbf::kv::cold
