// SPDX-License-Identifier: Apache-2.0
// What the NVIDIA plugin adds to a batch: copy and event through the plugin's own tables, and by hand with the same calls of
// the driver. Over the emulated driver of a machine whose copies cost nothing, so that what is left is the calls.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include "bench/by_plugin.hpp"
#include "bench/rows.hpp"
#include "conformance/measure/statistics.hpp"
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
    ByHand(const Driver &driver, int ordinal, uint64_t copies = 1)
        : context_(driver, nvidia::read_facts(driver, ordinal)), current_(context_), sizes_(copies, copy_bytes) {
        check(driver.StreamCreate(&stream_, cuda::stream_non_blocking), "cuStreamCreate");
        for (cuda::Event &event : events_) check(driver.EventCreate(&event, cuda::event_disable_timing), "cuEventCreate");
        check(driver.MemAlloc(&from_, copies * copy_bytes), "cuMemAlloc");
        check(driver.MemAlloc(&to_, copies * copy_bytes), "cuMemAlloc");
        for (uint64_t at = 0; at < copies * copy_bytes; at += copy_bytes) {
            sources_.push_back(from_ + at);
            targets_.push_back(to_ + at);
        }
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
            if (sizes_.size() == 1)
                check(context_.cuda.MemcpyAsync(to_, from_, copy_bytes, stream_), "cuMemcpyAsync");
            else
                batch();
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
    void batch() {
        cuda::CopyAttributes attributes{};
        attributes.source_order = cuda::source_in_stream_order;
        size_t first = 0, failed = 0;
        check(context_.cuda.MemcpyBatchAsync(targets_.data(), sources_.data(), sizes_.data(), sizes_.size(), &attributes,
                                             &first, 1, &failed, stream_),
              "cuMemcpyBatchAsync");
    }

    const nvidia::Context context_;
    const nvidia::Current current_;
    cuda::Stream stream_ = nullptr;
    cuda::Event events_[burst] = {};
    cuda::Pointer from_ = 0, to_ = 0;
    std::vector<cuda::Pointer> sources_, targets_;
    std::vector<size_t> sizes_;
};

// The emulated device, and the plugin's file.
struct Subject {
    const Driver &driver;
    nvidia::Found device;
    const hbf_plugin &plugin;
};

Subject open_subject(const fs::path &build, const fs::path &libcuda) {
    ::setenv("HBF_EMULATE_PROFILE", free_machine(build).c_str(), 1);
    open_library(libcuda); // whoever asks for it by its name gets this one now
    const Driver &driver = nvidia::driver();
    const nvidia::Survey all = nvidia::survey("");
    const nvidia::Found &device = all.devices.front();
    if (device.info.reality != HBF_REALITY_EMULATED) throw std::runtime_error("the driver is not the emulated one");
    const hbf_plugin &plugin = open_plugin(build / "plugins/nvidia/hbf_plugin_nvidia.so");
    if (const cuda::Result code = driver.Init(0); code != cuda::success) throw nvidia::init_failure(driver, code, "");
    return {driver, device, plugin};
}

template <class Measure>
void compare(const Settings &settings, Row &row, ByPlugin &ours, ByHand &theirs, const Measure &measure, std::string note) {
    settings.tell(row.name);
    auto figures = interleave(settings, {[&] { return measure(ours); }, [&] { return measure(theirs); }});
    row.ours = figures[0], row.theirs = figures[1];
    std::vector<double> ratios;
    for (size_t i = 0; i < row.ours.size(); ++i)
        if (row.theirs[i] > 0) ratios.push_back(row.ours[i] / row.theirs[i]);
    if (!ratios.empty()) note += fmt::format("; {:.2f} times as by hand", measure::summarize(ratios).median);
    row.notes = {std::move(note)};
}

void measure_rows(const Settings &settings, const Subject &subject, Row &time, Row &memory, Row &many) {
    const auto about = [&](uint64_t copies) {
        return fmt::format(
            "{}, copies that cost nothing; {} batches of {} copies of {} bytes in bursts of {}, an event each",
            subject.device.info.name, burst * bursts, copies, copy_bytes, burst);
    };
    const auto nanoseconds_of = [](auto &side) { return nanoseconds(side); };
    if (settings.wants(time.name) || settings.wants(memory.name)) {
        ByPlugin ours(subject.plugin, subject.device.info.id);
        ByHand theirs(subject.driver, subject.device.ordinal);
        (void)allocations_of(ours), (void)allocations_of(theirs); // warm
        if (settings.wants(time.name)) compare(settings, time, ours, theirs, nanoseconds_of, about(1));
        if (settings.wants(memory.name))
            compare(
                settings, memory, ours, theirs, [](auto &side) { return allocations_of(side); },
                about(1) + "; every malloc of the calling thread counted, the emulated driver's too");
    }
    if (!settings.wants(many.name)) return;
    constexpr uint64_t copies = 1024;
    ByPlugin ours(subject.plugin, subject.device.info.id, copies);
    ByHand theirs(subject.driver, subject.device.ordinal, copies);
    (void)allocations_of(ours), (void)allocations_of(theirs); // warm
    compare(settings, many, ours, theirs, nanoseconds_of, about(copies) + "; one cuMemcpyBatchAsync on either side");
}

} // namespace

void nvidia_rows(const Settings &settings, std::vector<Row> &rows) {
    const std::string hand = "copy and event by hand, emulated driver";
    Row time{"NVIDIA plugin, batch of one copy (emulated)", "ns", hand, Bar::excess_at_most, 200, {}, {}, {}, {}};
    Row memory{"NVIDIA plugin, allocations a batch (emulated)", "calls", hand, Bar::excess_at_most, 0, {}, {}, {}, {}};
    Row many{"NVIDIA plugin, batch of 1,024 copies (emulated)", "ns", hand, Bar::none, 0, {}, {}, {}, {}};
    const fs::path build = settings.build, libcuda = build / "conformance/emulators/nvidia/libcuda.so.1";
    const auto wanted = [&](const Row &row) { return settings.wants(row.name); };
    if (!wanted(time) && !wanted(memory) && !wanted(many)) return;
    try {
        if (fs::exists(libcuda))
            measure_rows(settings, open_subject(build, libcuda), time, memory, many);
        else
            time.missing = memory.missing = many.missing = libcuda.native() + " is not built";
    } catch (const sdk::Failure &failure) {
        throw std::runtime_error(failure.message);
    }
    for (const Row &row : {time, memory, many})
        if (wanted(row)) rows.push_back(row);
}

} // namespace hbf::bench
