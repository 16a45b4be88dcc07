// SPDX-License-Identifier: Apache-2.0
// What the NVIDIA plugin adds to a batch: copy and event through the plugin's own tables, and by hand with the same calls of
// the driver. Over the emulated driver of a machine whose copies cost nothing, so that what is left is the calls.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <dlfcn.h>
#include <fmt/format.h>

#include "bench/by_plugin.hpp"
#include "bench/rows.hpp"
#include "hbf/sdk/failure.hpp"
#include "plugins/nvidia/context.hpp"
#include "plugins/nvidia/discovery.hpp"
#include "plugins/nvidia/errors.hpp"

namespace hbf::bench {
namespace {

using nvidia::Driver;
namespace cuda = nvidia::cuda;
namespace fs = std::filesystem;

// An H100 of the emulated machines, with copies that are over when they are submitted.
fs::path free_machine(const fs::path &build) {
    std::ifstream in(fs::path(HBF_BENCH_PROFILES) / "h100.toml");
    const fs::path path = build / "bench_free_copies.toml";
    std::ofstream out(path);
    out << "timing = \"free\"\n" << in.rdbuf();
    if (!in || !out.flush()) throw std::runtime_error(fmt::format("{} cannot be written", path.native()));
    return path;
}

void *open_library(const fs::path &file) {
    void *const handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) throw std::runtime_error(::dlerror());
    return handle;
}

const hbf_plugin &open_plugin(const fs::path &file) {
    const auto query = reinterpret_cast<hbf_plugin_query_fn>(::dlsym(open_library(file), "hbf_plugin_query"));
    hbf_host_info host{};
    host.struct_size = sizeof host;
    host.abi_min = HBF_ABI_VERSION;
    const hbf_plugin *const plugin = query ? query(HBF_ABI_VERSION, &host) : nullptr;
    if (!plugin) throw std::runtime_error(file.native() + ": no plugin for this host");
    return *plugin;
}

// Made once, used for every batch, as a program that knows what it does would have it.
class ByHand {
public:
    ByHand(const Driver &driver, int ordinal) : context_(driver, nvidia::read_facts(driver, ordinal)), current_(context_) {
        check(driver.StreamCreate(&stream_, cuda::stream_non_blocking), "cuStreamCreate");
        for (cuda::Event &event : events_) check(driver.EventCreate(&event, cuda::event_disable_timing), "cuEventCreate");
        check(driver.MemAlloc(&from_, copy_bytes), "cuMemAlloc");
        check(driver.MemAlloc(&to_, copy_bytes), "cuMemAlloc");
    }
    ~ByHand() {
        for (const cuda::Event event : events_) (void)context_.cuda.EventDestroy(event);
        (void)context_.cuda.StreamDestroy(stream_);
        (void)context_.cuda.MemFree(from_);
        (void)context_.cuda.MemFree(to_);
    }
    ByHand(const ByHand &) = delete;
    ByHand &operator=(const ByHand &) = delete;

    void run_burst() {
        for (const cuda::Event event : events_) {
            check(context_.cuda.MemcpyAsync(to_, from_, copy_bytes, stream_), "cuMemcpyAsync");
            check(context_.cuda.EventRecord(event, stream_), "cuEventRecord");
        }
        for (const cuda::Event event : events_) {
            cuda::Result code = cuda::not_ready;
            while (code == cuda::not_ready) code = context_.cuda.EventQuery(event);
            check(code, "cuEventQuery");
        }
    }

private:
    void check(cuda::Result code, const char *what) const { nvidia::check(context_.cuda, code, what); }

    const nvidia::Context context_;
    const nvidia::Current current_;
    cuda::Stream stream_ = nullptr;
    cuda::Event events_[burst] = {};
    cuda::Pointer from_ = 0, to_ = 0;
};

void measure_rows(const Settings &settings, Row &time, Row &memory) {
    const fs::path build = settings.build, libcuda = build / "conformance/emulators/nvidia/libcuda.so.1";
    if (!fs::exists(libcuda)) {
        time.missing = memory.missing = libcuda.native() + " is not built";
        return;
    }
    ::setenv("HBF_EMULATE_PROFILE", free_machine(build).c_str(), 1);
    open_library(libcuda); // whoever asks for it by its name gets this one now
    const Driver &driver = nvidia::driver();
    const nvidia::Survey all = nvidia::survey("");
    const nvidia::Found &device = all.devices.front();
    if (device.info.reality != HBF_REALITY_EMULATED) throw std::runtime_error("the driver is not the emulated one");
    ByPlugin ours(open_plugin(build / "plugins/nvidia/hbf_plugin_nvidia.so"), device.info.id);
    if (const cuda::Result code = driver.Init(0); code != cuda::success) throw nvidia::init_failure(driver, code, "");
    ByHand theirs(driver, device.ordinal);
    (void)allocations_of(ours), (void)allocations_of(theirs); // warm
    const std::string note =
        fmt::format("{}, copies that cost nothing; {} copies of {} bytes in bursts of {}, an event each", device.info.name,
                    burst * bursts, copy_bytes, burst);
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
        memory.notes = {note + "; every malloc of the calling thread counted, the emulated driver's too"};
    }
}

} // namespace

void nvidia_rows(const Settings &settings, std::vector<Row> &rows) {
    const std::string hand = "copy and event by hand, emulated driver";
    Row time{"NVIDIA plugin, batch of one copy (emulated)", "ns", hand, Bar::excess_at_most, 200, {}, {}, {}, {}};
    Row memory{"NVIDIA plugin, allocations a batch (emulated)", "calls", hand, Bar::excess_at_most, 0, {}, {}, {}, {}};
    if (!settings.wants(time.name) && !settings.wants(memory.name)) return;
    try {
        measure_rows(settings, time, memory);
    } catch (const sdk::Failure &failure) {
        throw std::runtime_error(failure.message);
    }
    for (const Row &row : {time, memory})
        if (settings.wants(row.name)) rows.push_back(row);
}

} // namespace hbf::bench
