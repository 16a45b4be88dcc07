// SPDX-License-Identifier: Apache-2.0
#include "bench/emulated.hpp"

#include <cstdlib>

#include "conformance/measure/statistics.hpp"

namespace hbf::bench {

namespace fs = std::filesystem;

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

void use_emulated_machine() {
    ::setenv("HBF_EMULATE_PROFILE", HBF_BENCH_MACHINE, 1);
}

FreeCopies::FreeCopies(const fs::path &build)
    : set_(take<bool(const char *)>(open_library(build / "conformance/sim/model/libhbf-emulated-machine.so"),
                                    "hbf_emulated_machine_timing")) {
    if (!set_("free")) throw std::runtime_error("the emulated machine takes no other timing");
}

FreeCopies::~FreeCopies() {
    (void)set_("none");
}

void compare(const Settings &settings, Row &row, const Try &ours, const Try &theirs, std::string note) {
    settings.tell(row.name);
    auto figures = interleave(settings, {ours, theirs});
    row.ours = figures[0], row.theirs = figures[1];
    std::vector<double> ratios;
    for (size_t i = 0; i < row.ours.size(); ++i)
        if (row.theirs[i] > 0) ratios.push_back(row.ours[i] / row.theirs[i]);
    if (!ratios.empty()) note += fmt::format("; {:.2f} times as by hand", measure::summarize(ratios).median);
    row.notes = {std::move(note)};
}

Overhead::Overhead(const std::string &plugin, const std::string &hand)
    : time{plugin + " plugin, batch of one copy (emulated)", "ns", hand, Bar::excess_at_most, 200, {}, {}, {}, {}},
      memory{plugin + " plugin, allocations a batch (emulated)", "calls", hand, Bar::excess_at_most, 0, {}, {}, {}, {}} {}

void Overhead::append(const Settings &settings, std::vector<Row> &rows) const {
    for (const Row &row : {time, memory})
        if (settings.wants(row.name)) rows.push_back(row);
}

std::string note_of(const std::string &device, uint64_t copies, uint64_t per_burst) {
    return fmt::format("{}, copies that cost nothing; {} batches of {} copies of {} bytes in bursts of {}, an event each",
                       device, per_burst * bursts, copies, copy_bytes, per_burst);
}

} // namespace hbf::bench
