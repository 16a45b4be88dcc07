// SPDX-License-Identifier: Apache-2.0
// What the NVIDIA plugin adds to a batch: copy and event through the plugin's own tables, and by hand with the same calls of
// the driver.
#include <filesystem>
#include <stdexcept>
#include <vector>

#include "bench/emulated.hpp"
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

    static constexpr uint64_t per_burst = burst;
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
    use_emulated_machine();
    open_library(libcuda);
    const Driver &driver = nvidia::driver();
    const nvidia::Survey all = nvidia::survey("");
    const nvidia::Found &device = all.devices.front();
    if (device.info.reality != HBF_REALITY_EMULATED) throw std::runtime_error("the driver is not the emulated one");
    const hbf_plugin &plugin = open_plugin(build / "plugins/nvidia/hbf_plugin_nvidia.so");
    if (const cuda::Result code = driver.Init(0); code != cuda::success) throw nvidia::init_failure(driver, code, "");
    return {driver, device, plugin};
}

void measure_rows(const Settings &settings, const Subject &subject, Overhead &one, Row &many) {
    const char *const id = subject.device.info.id, *const name = subject.device.info.name;
    if (one.wanted(settings)) {
        ByPlugin ours(subject.plugin, id);
        ByHand theirs(subject.driver, subject.device.ordinal);
        const FreeCopies free(settings.build);
        measure(settings, one, ours, theirs, note_of(name, 1, burst));
    }
    if (!settings.wants(many.name)) return;
    constexpr uint64_t copies = 1024;
    ByPlugin ours(subject.plugin, id, copies);
    ByHand theirs(subject.driver, subject.device.ordinal, copies);
    const FreeCopies free(settings.build);
    (void)allocations_of(ours), (void)allocations_of(theirs); // warm
    compare(
        settings, many, [&] { return nanoseconds(ours); }, [&] { return nanoseconds(theirs); },
        note_of(name, copies, burst) + "; one cuMemcpyBatchAsync on either side");
}

} // namespace

void nvidia_rows(const Settings &settings, std::vector<Row> &rows) {
    const std::string hand = "copy and event by hand, emulated driver";
    Overhead one("NVIDIA", hand);
    Row many{"NVIDIA plugin, batch of 1,024 copies (emulated)", "ns", hand, Bar::none, 0, {}, {}, {}, {}};
    const fs::path build = settings.build, libcuda = build / "conformance/emulators/nvidia/libcuda.so.1";
    if (!one.wanted(settings) && !settings.wants(many.name)) return;
    try {
        if (fs::exists(libcuda)) {
            measure_rows(settings, open_subject(build, libcuda), one, many);
        } else {
            many.missing = libcuda.native() + " is not built";
            one.missing(many.missing);
        }
    } catch (const sdk::Failure &failure) {
        throw std::runtime_error(failure.message);
    }
    one.append(settings, rows);
    if (settings.wants(many.name)) rows.push_back(many);
}

} // namespace hbf::bench
