// SPDX-License-Identifier: Apache-2.0
// What a vendor's plugin adds to a batch, over that vendor's emulated runtime and a machine whose copies cost nothing, so
// that what is left is the calls: copy and event through the plugin's own tables, and by hand with the same runtime.
#pragma once

#include <cstring>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include "bench/by_plugin.hpp"
#include "bench/row.hpp"

namespace hbf::bench {

void *open_library(const std::filesystem::path &file); // whoever asks for it by its name gets this one from then on
const hbf_plugin &open_plugin(const std::filesystem::path &file);

// The emulated machine of this process, bench/machine.toml: before the first runtime is asked for anything.
void use_emulated_machine();

// While it lives copies are over when they are submitted, and move nothing. Made and ended with nothing in flight.
class FreeCopies {
public:
    explicit FreeCopies(const std::filesystem::path &build);
    ~FreeCopies();
    FreeCopies(const FreeCopies &) = delete;
    FreeCopies &operator=(const FreeCopies &) = delete;

private:
    bool (*const set_)(const char *);
};

template <class Function>
Function *take(void *library, const char *name) {
    void *const found = ::dlsym(library, name);
    if (!found) throw std::runtime_error(fmt::format("{}: {}", name, ::dlerror()));
    return reinterpret_cast<Function *>(found);
}

inline void check_code(long code, const char *what) {
    if (code != 0) throw std::runtime_error(fmt::format("{} by hand: {:#x}", what, code));
}

// What stands in a row below its figures: how our side compares.
void compare(const Settings &settings, Row &row, const Try &ours, const Try &theirs, std::string note);

struct Overhead { // the two rows of a plugin
    Overhead(const std::string &plugin, const std::string &hand);
    bool wanted(const Settings &settings) const { return settings.wants(time.name) || settings.wants(memory.name); }
    void missing(const std::string &why) { time.missing = memory.missing = why; }
    void append(const Settings &settings, std::vector<Row> &rows) const;
    Row time, memory;
};

// Both with nothing in flight, opened before copies became free.
template <class Hand>
void measure(const Settings &settings, Overhead &rows, ByPlugin &ours, Hand &theirs, const std::string &note) {
    (void)allocations_of(ours), (void)allocations_of(theirs); // warm
    if (settings.wants(rows.time.name))
        compare(settings, rows.time, [&] { return nanoseconds(ours); }, [&] { return nanoseconds(theirs); }, note);
    if (settings.wants(rows.memory.name))
        compare(
            settings, rows.memory, [&] { return allocations_of(ours); }, [&] { return allocations_of(theirs); },
            note + "; every malloc of the calling thread counted, the emulated runtime's too");
}

std::string note_of(const std::string &device, uint64_t copies, uint64_t per_burst);

// A vendor's rows from its files below the build folder. `Hand` is made of the opened runtime, and counts as ByPlugin does.
template <class Hand>
void overhead_rows(const Settings &settings, std::vector<Row> &out, Overhead rows, const std::string &vendor,
                   const std::filesystem::path &runtime, uint64_t per_burst) {
    if (!rows.wanted(settings)) return;
    const std::filesystem::path build = settings.build;
    const std::filesystem::path emulated = build / "conformance/emulators" / vendor / runtime;
    if (!std::filesystem::exists(emulated)) {
        rows.missing(emulated.native() + " is not built");
    } else {
        use_emulated_machine();
        void *const library = Hand::open(emulated);
        const hbf_plugin &plugin = open_plugin(build / "plugins" / vendor / ("hbf_plugin_" + vendor + ".so"));
        ByPlugin ours(plugin, "", 1, per_burst); // the only device
        Hand theirs(library, per_burst);
        const FreeCopies free(build);
        measure(settings, rows, ours, theirs, note_of(vendor + "'s emulated device", 1, per_burst));
    }
    rows.append(settings, out);
}

} // namespace hbf::bench
