// SPDX-License-Identifier: Apache-2.0
// What the OpenCL plugin adds to a batch: the same copies through the plugin's own tables, and by hand with what OpenCL has
// for them. The driver's work is in both. Bursts, so that the driver's threads are woken once for many.
#include <stdexcept>

#include <fmt/format.h>

#include "bench/by_plugin.hpp"
#include "bench/rows.hpp"
#include "hbf/sdk/failure.hpp"
#include "hbf/selection.hpp"
#include "plugins/opencl/context.hpp"
#include "plugins/opencl/discovery.hpp"
#include "plugins/opencl/errors.hpp"

namespace hbf::bench {
namespace {

// Each copy with an event, handed over at once, and looked at for how it ended.
class ByHand {
public:
    explicit ByHand(const opencl::OpenedDevice &device)
        : context_(opencl::library(), device.platform, device.device), queue_(context_.make_queue()), from_(buffer()),
          to_(buffer()) {}

    static constexpr uint64_t per_burst = burst;
    void run_burst() {
        const opencl::Functions &cl = context_.cl;
        cl_event events[burst];
        for (cl_event &event : events) {
            opencl::check(cl.EnqueueCopyBuffer(queue_.get(), from_.get(), to_.get(), 0, 0, copy_bytes, 0, nullptr, &event),
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
        opencl::OwnedBuffer made(
            context_.cl.CreateBuffer(context_.context.get(), CL_MEM_READ_WRITE, copy_bytes, nullptr, &code));
        opencl::check(code, "buffer");
        return made;
    }

    const opencl::Context context_;
    opencl::OwnedQueue queue_;
    opencl::OwnedBuffer from_, to_;
};

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
                                         all.devices.front().info.name, burst * bursts, copy_bytes, burst);
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
