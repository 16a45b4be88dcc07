// SPDX-License-Identifier: Apache-2.0
// A failure reaches everybody who waits: the rest of its queue, other queues, every thread, each time it is asked for.
//
// A healthy device fails no legal command, so the case has to make it. What is stored in files can be made to fail from
// outside: a process may forbid itself to write beyond a size (RLIMIT_FSIZE), and then the kernel refuses the device's
// writes. The wrapper's fault `device_error` fails a command of any plugin as a device would. Where neither is there,
// nothing can be seen.
#include <atomic>
#include <csignal>
#include <optional>
#include <vector>

#include <sys/resource.h>

#include "conformance/suite/async/expect.hpp"
#include "conformance/suite/threads.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t piece = 65536;
constexpr uint64_t values = 8, first_forbidden = 4; // of each round

// Forbids this process to write to files, for as long as it lives. Pipes and what is written already are untouched.
class NoFileWrites {
public:
    NoFileWrites() {
        before_handler_ = std::signal(SIGXFSZ, SIG_IGN);
        good_ = getrlimit(RLIMIT_FSIZE, &before_) == 0;
        const rlimit none{0, before_.rlim_max};
        good_ = good_ && setrlimit(RLIMIT_FSIZE, &none) == 0;
    }
    ~NoFileWrites() {
        if (good_) (void)setrlimit(RLIMIT_FSIZE, &before_);
        (void)std::signal(SIGXFSZ, before_handler_);
    }
    NoFileWrites(const NoFileWrites &) = delete;
    NoFileWrites &operator=(const NoFileWrites &) = delete;

private:
    rlimit before_{};
    void (*before_handler_)(int) = nullptr;
    bool good_ = false;
};

std::optional<uint32_t> file_tier(const Instance &device) {
    for (const uint32_t tier : device.dma_tiers())
        if (device.tier(tier).media == HBF_MEDIA_FILE && !device.cpu_access(tier)) return tier;
    return std::nullopt;
}

// The queue on which a value fails, one that waits for each of its values, one that waits for those in turn.
struct Scene {
    Scene(const Instance &device, uint32_t tier)
        : regions(device), src(regions.make(device.cpu_tier(), values * piece)), dst(regions.make(tier, values * piece)),
          own(regions.make(device.cpu_tier(), piece)), queue(device) {
        for (uint64_t i = 0; i < values; ++i) waiting.push_back(std::make_unique<Queue>(device));
        last = std::make_unique<Queue>(device);
    }
    Regions regions;
    hbf_region_info src, dst, own;
    Queue queue;
    std::vector<std::unique_ptr<Queue>> waiting; // the i-th waits for value i + 1
    std::unique_ptr<Queue> last;
};

bool failed_by(const hbf_progress &progress, uint64_t value) {
    return progress.failed != 0 && progress.failed <= value;
}

// Completed as failed, with a status, a message that stays, and the lowest failed value.
void expect_failed(Context &context, const Instance &device, hbf_queue *queue, uint64_t value, std::string_view what) {
    const hbf_progress now = device.poll(queue);
    expect(context, failed_by(now, value) && now.status != HBF_OK, fault::swallowed,
           "{} completed as a success (poll: completed {}, failed {}, status {})", what, now.completed, now.failed,
           status_name(now.status));
    expect(context, status_name(now.status) != "an unknown status", fault::wrong_status,
           "{} failed with status {}, which is none", what, now.status);
    const Call why = device.failure(queue);
    must(why, "failure() after {} failed", what);
    expect(context, !why.message.empty(), fault::contract, "{} failed, and failure() has no message", what);
    expect(context, device.failure(queue).message == why.message, fault::contract,
           "failure() says one thing and then another after {} failed", what);
    expect(context, device.poll(queue).failed == now.failed, fault::contract, "the lowest failed value changed from {}",
           now.failed);
}

// Every thread that waits comes back, with the same answer.
void all_wait(Context &context, const Instance &device, const std::vector<std::pair<hbf_queue *, uint64_t>> &ends) {
    run_threads(4, [&](unsigned thread) {
        for (size_t i = thread % 2; i < ends.size(); ++i) {
            const Call call = device.wait(ends[i].first, ends[i].second);
            expect(context, call.ok(), call.status == HBF_TIMEOUT ? fault::never_completes : fault::wrong_status,
                   "wait for value {}, which may have failed, and completes all the same: {} where HBF_OK is due",
                   ends[i].second, to_string(call));
        }
    });
}

// One round. Returns whether a value failed.
bool play(Context &context, const Instance &device, uint32_t tier, bool forbid, uint32_t round) {
    Scene scene(device, tier);
    ByteAccess access(device);
    const kernels::PatternKey key{static_cast<uint32_t>(context.seed()), round, false};
    write_pattern(access, scene.src, 0, values * piece, key, 0);
    write_pattern(access, scene.dst, 0, values * piece, poison_of(key), 0);
    std::vector<std::pair<hbf_queue *, uint64_t>> ends;
    hbf_progress mine{};
    {
        std::optional<NoFileWrites> forbidden;
        std::vector<uint64_t> waiter(values);
        for (uint64_t i = 0; i < values; ++i) {
            if (forbid && i + 1 == first_forbidden) {
                device.must_complete(scene.queue, i);
                forbidden.emplace();
            }
            const uint64_t value = device.must_submit(
                scene.queue, {copy_command(scene.dst.region, i * piece, scene.src.region, i * piece, piece)});
            waiter[i] = device.must_submit(
                *scene.waiting[i], {wait_command(scene.queue, value), fill_command(scene.own.region, i * 64, 64, i, 1)});
        }
        const uint64_t end = device.must_submit(*scene.last, {wait_command(*scene.waiting[values - 1], waiter[values - 1]),
                                                              fill_command(scene.own.region, 1024, 64, 1, 1)});
        ends.emplace_back(scene.queue, values);
        for (uint64_t i = 0; i < values; ++i) ends.emplace_back(*scene.waiting[i], waiter[i]);
        ends.emplace_back(*scene.last, end);
        all_wait(context, device, ends);
        mine = device.poll(scene.queue);
        if (mine.failed) { // and whoever comes later
            const uint64_t late = device.must_submit(scene.queue, {fill_command(scene.own.region, 2048, 64, 2, 1)});
            (void)device.wait(scene.queue, late);
            expect(context, device.poll(scene.queue).completed >= late, fault::never_completes,
                   "a value submitted to a queue that had failed did not complete");
            const uint64_t other = device.must_submit(*scene.last, {wait_command(scene.queue, late)});
            all_wait(context, device, {{*scene.last, other}});
        }
    }
    // What counts as done is done.
    const uint64_t good = mine.failed ? mine.failed - 1 : values;
    if (good) {
        std::vector<std::byte> bytes(good * piece);
        access.read(scene.dst, 0, bytes);
        expect_pattern(context, device, scene.dst, 0, bytes.data(), bytes.size(), key, 0, fault::swallowed,
                       "values that completed as successes, beside others that could not be written");
    }
    if (!mine.failed) return false;
    expect_failed(context, device, scene.queue, values, fmt::format("the queue of failed value {}", mine.failed));
    for (uint64_t i = mine.failed - 1; i < values; ++i)
        expect_failed(context, device, *scene.waiting[i], ends[i + 1].second,
                      fmt::format("a value of another queue that waited for value {} of one where value {} failed", i + 1,
                                  mine.failed));
    for (uint64_t i = 0; forbid && i + 1 < mine.failed; ++i)
        expect(context, device.poll(*scene.waiting[i]).failed == 0, fault::wrong_status,
               "a value that waited for value {} failed, but only value {} and later ones had", i + 1, mine.failed);
    expect_failed(context, device, *scene.last, ends.back().second,
                  "a value that waited for one that waited for a failed one");
    return true;
}

} // namespace

HBF_CASE("async.fence.failure_reaches_all_waiters",
         {.rules = {"HBF-QUEUE-4"},
          .kills = {"device_error_swallowed", "file_error_swallowed", "m23_error_not_in_fence", "failure_stays_in_its_queue",
                    "failure_forgotten", "failed_value_ok", "failed_value_unknown", "failure_silent", "failure_changes",
                    "failed_value_moves", "failed_wait_tells", "failed_queue_stops", "failure_spreads"},
          .needs = need::cpu_tier}) {
    Instance &device = context.device();
    unsigned failures = 0;
    uint32_t round = 0;
    const auto files = file_tier(device);
    for (uint64_t i = 0; files && i < context.scaled(3, 40, 400); ++i)
        failures += play(context, device, *files, true, ++round);
    // Without help nothing fails here; with device_error something does.
    for (uint64_t i = 0; i < context.scaled(4, 40, 400); ++i)
        failures += play(context, device, device.cpu_tier(), false, ++round);
    context.metric({"async.failure.rounds", "1", static_cast<double>(failures)});
    if (failures == 0)
        context.not_observable(
            "nothing failed: this device keeps no files that could be write-protected under it. Run it under "
            "the wrapper's fault device_error to see how its failures spread");
}

} // namespace hbf::conformance
