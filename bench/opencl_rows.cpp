// SPDX-License-Identifier: Apache-2.0
// What the OpenCL plugin adds to a batch: the same copies through the plugin's own tables, and by hand with what OpenCL has
// for them. The driver's work is in both. Bursts, so that the driver's threads are woken once for many.
#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>

#include <fmt/format.h>

#include "bench/allocations.hpp"
#include "bench/rows.hpp"
#include "conformance/measure/clock.hpp"
#include "hbf/abi.h"
#include "hbf/sdk/failure.hpp"
#include "hbf/selection.hpp"
#include "plugins/opencl/context.hpp"
#include "plugins/opencl/discovery.hpp"
#include "plugins/opencl/errors.hpp"

namespace hbf::bench {
namespace {

using measure::Clock;
using measure::seconds_between;

constexpr uint64_t bytes = 4096, burst = 32, bursts = 64;

void require(hbf_status status, const hbf_error &error, const char *what) {
    if (status != HBF_OK) throw std::runtime_error(fmt::format("{}: {}", what, error.message ? error.message : ""));
}

// The plugin's device as a host has it: by the C tables alone.
class ByPlugin {
public:
    ByPlugin(const hbf_plugin &plugin, const char *device) : plugin_(plugin) {
        hbf_create_in in{};
        in.struct_size = sizeof in;
        in.device_id = {device, std::strlen(device)};
        require(plugin.create(&in, &instance_, &error_), error_, "create");
        tiers_ = static_cast<const hbf_tier_ext *>(plugin.get_extension(instance_, text(HBF_EXT_TIER)));
        queues_ = static_cast<const hbf_queue_ext *>(plugin.get_extension(instance_, text(HBF_EXT_QUEUE)));
        hbf_queue_desc desc{};
        desc.struct_size = sizeof desc;
        require(queues_->create(instance_, &desc, &queue_, &error_), error_, "create queue");
        command_.kind = HBF_COMMAND_COPY;
        command_.u.copy = {allocate(), 0, allocate(), 0, bytes, nullptr};
    }
    ~ByPlugin() { plugin_.destroy(instance_); }
    ByPlugin(const ByPlugin &) = delete;
    ByPlugin &operator=(const ByPlugin &) = delete;

    void run_burst() {
        const hbf_batch batch{sizeof batch, sizeof command_, &command_, 1};
        hbf_progress progress{};
        progress.struct_size = sizeof progress;
        uint64_t last = 0;
        for (uint64_t i = 0; i < burst; ++i) require(queues_->submit(queue_, &batch, &last, &error_), error_, "submit");
        require(queues_->wait(queue_, last, UINT64_MAX, &error_), error_, "wait");
        if (queues_->poll(queue_, &progress) != HBF_OK || progress.completed != last || progress.failed != 0)
            throw std::runtime_error("a copy through the OpenCL plugin failed");
    }

private:
    static hbf_string text(const char *of) { return {of, std::strlen(of)}; }
    hbf_region allocate() {
        hbf_alloc_desc desc{};
        desc.struct_size = sizeof desc;
        desc.size = bytes;
        hbf_region_info info{};
        info.struct_size = sizeof info;
        require(tiers_->alloc(instance_, &desc, &info, &error_), error_, "allocate");
        return info.region;
    }

    const hbf_plugin &plugin_;
    char message_[256] = {};
    hbf_error error_{sizeof(hbf_error), 0, message_, sizeof message_, 0, 0, 0};
    hbf_instance *instance_ = nullptr;
    const hbf_tier_ext *tiers_ = nullptr;
    const hbf_queue_ext *queues_ = nullptr;
    hbf_queue *queue_ = nullptr;
    hbf_command command_{};
};

// Each copy with an event, handed over at once, and looked at for how it ended.
class ByHand {
public:
    explicit ByHand(const opencl::OpenedDevice &device)
        : context_(opencl::library(), device.platform, device.device), queue_(context_.make_queue()), from_(buffer()),
          to_(buffer()) {}

    void run_burst() {
        const opencl::Functions &cl = context_.cl;
        cl_event events[burst];
        for (cl_event &event : events) {
            opencl::check(cl.EnqueueCopyBuffer(queue_.get(), from_.get(), to_.get(), 0, 0, bytes, 0, nullptr, &event),
                          "copy");
            opencl::check(cl.Flush(queue_.get()), "flush");
        }
        opencl::check(cl.WaitForEvents(1, &events[burst - 1]), "wait");
        for (const cl_event event : events) {
            cl_int status = CL_QUEUED;
            opencl::check(cl.GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, nullptr),
                          "status");
            if (status != CL_COMPLETE) throw std::runtime_error("a copy by hand failed");
            opencl::check(cl.ReleaseEvent(event), "release");
        }
    }

private:
    opencl::OwnedBuffer buffer() {
        cl_int code = CL_SUCCESS;
        opencl::OwnedBuffer made(context_.cl.CreateBuffer(context_.context.get(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
        opencl::check(code, "buffer");
        return made;
    }

    const opencl::Context context_;
    opencl::OwnedQueue queue_;
    opencl::OwnedBuffer from_, to_;
};

// Of a batch, in the median burst: most are not interrupted.
template <class Side>
double nanoseconds(Side &side) {
    std::array<double, bursts> taken;
    for (double &one : taken) {
        const auto begin = Clock::now();
        side.run_burst();
        one = seconds_between(begin, Clock::now()) / burst * 1e9;
    }
    std::nth_element(taken.begin(), taken.begin() + bursts / 2, taken.end());
    return taken[bursts / 2];
}

// Of a batch, in the burst with fewest: now and then a driver, on either side, needs an event more than it has at hand.
template <class Side>
double allocations_of(Side &side) {
    uint64_t fewest = UINT64_MAX;
    for (uint64_t i = 0; i < bursts; ++i) {
        const auto before = allocations_of_thread();
        side.run_burst();
        fewest = std::min(fewest, allocations_of_thread() - before);
    }
    return static_cast<double>(fewest) / burst;
}

// Pinned: where PoCL is all there is, it serves by no other way.
Result<Selection> select_plugin() {
    ConfigSources sources;
    sources.api = {{"plugins.pin", "opencl"}};
    const auto config = Config::load(sources);
    return config ? select_plugins(*config) : tl::unexpected(config.error());
}

void measure_rows(const Settings &settings, const hbf_plugin &plugin, Row &time, Row &memory) {
    const opencl::Survey all = opencl::survey();
    ByPlugin ours(plugin, all.devices.front().info.id);
    ByHand theirs(opencl::open_device(opencl::library(), all.devices.front(), all));
    (void)allocations_of(ours), (void)allocations_of(theirs); // warm
    const std::string note = fmt::format("{}; {} copies of {} bytes in bursts of {}, all in flight at once",
                                         all.devices.front().info.name, burst * bursts, bytes, burst);
    if (settings.wants(time.name)) {
        settings.tell(time.name);
        auto figures = interleave(settings, {[&] { return nanoseconds(ours); }, [&] { return nanoseconds(theirs); }});
        time.ours = figures[0], time.theirs = figures[1];
        time.notes = {note};
    }
    if (settings.wants(memory.name)) {
        settings.tell(memory.name);
        auto figures = interleave(settings, {[&] { return allocations_of(ours); }, [&] { return allocations_of(theirs); }});
        memory.ours = figures[0], memory.theirs = figures[1];
        memory.notes = {note + "; every malloc of the calling thread counted, the driver's too"};
    }
}

} // namespace

void opencl_rows(const Settings &settings, std::vector<Row> &rows) {
    const std::string hand = "the same copies and events by hand";
    Row time{"OpenCL plugin, batch of one copy", "ns", hand, Bar::excess_at_most, 300, {}, {}, {}, {}};
    Row memory{"OpenCL plugin, allocations a batch", "calls", hand, Bar::excess_at_most, 0, {}, {}, {}, {}};
    if (!settings.wants(time.name) && !settings.wants(memory.name)) return;
    const auto selection = select_plugin();
    if (const Candidate *const candidate = selection ? selection->primary() : nullptr) {
        try {
            measure_rows(settings, *candidate->plugin, time, memory);
        } catch (const sdk::Failure &failure) {
            throw std::runtime_error(failure.message);
        }
    } else {
        time.missing = memory.missing = selection ? "no plugin serves" : selection.error().message;
    }
    for (const Row &row : {time, memory})
        if (settings.wants(row.name)) rows.push_back(row);
}

} // namespace hbf::bench
