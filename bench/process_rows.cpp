// SPDX-License-Identifier: Apache-2.0
// hbf probe as a user starts it: time on the wall and peak memory, without and with its cache; and the library's size.
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "bench/command.hpp"
#include "bench/peak_memory.hpp"
#include "bench/rows.hpp"

namespace hbf::bench {
namespace {

namespace fs = std::filesystem;

class EmptyCache {
public:
    EmptyCache() {
        auto name = (fs::temp_directory_path() / "hbf-bench-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
            throw std::runtime_error(fmt::format("cannot create {}: {}", name, std::strerror(errno)));
        folder_ = name;
        setenv("XDG_CACHE_HOME", name.c_str(), 1);
    }
    ~EmptyCache() { fs::remove_all(folder_); }
    EmptyCache(const EmptyCache &) = delete;
    EmptyCache &operator=(const EmptyCache &) = delete;
    void empty() {
        for (const auto &entry : fs::directory_iterator(folder_)) fs::remove_all(entry.path());
    }

private:
    fs::path folder_;
};

void probe_rows(const Settings &settings, std::vector<Row> &rows) {
    const auto hbf = settings.build + "/tools/hbf";
    if (!fs::exists(hbf)) throw std::runtime_error(hbf + " is not built");
    Row cold{"hbf probe, cold", "s", "starting true", Bar::at_most, 0.3, {}, {}, {}, {}};
    Row cached{"hbf probe, cached", "s", "starting true", Bar::at_most, 0.05, {}, {}, {}, {}};
    Row peak{"hbf probe, peak memory of the parent", "MiB", "", Bar::at_most, 40, {}, {}, {}, {}};
    if (!settings.wants(cold.name) && !settings.wants(cached.name) && !settings.wants(peak.name)) return;
    settings.tell("hbf probe");
    EmptyCache cache;
    seconds_of({hbf, "probe"}); // the files are in the page cache: cold means without probe results
    for (size_t i = 0; i < settings.pairs; ++i) {
        cache.empty();
        cold.ours.push_back(seconds_of({hbf, "probe"}));
        cached.ours.push_back(seconds_of({hbf, "probe"}));
        const auto nothing = seconds_of({"true"});
        cold.theirs.push_back(nothing);
        cached.theirs.push_back(nothing);
        cache.empty();
        peak.ours.push_back(std::max(peak_mib({hbf, "probe"}), peak_mib({hbf, "probe"})));
    }
    peak.notes.push_back("its own high-water mark as it exits, without and with its cache; none of its children");
    for (auto *row : {&cold, &cached, &peak}) {
        if (settings.wants(row->name)) rows.push_back(*row);
    }
}

void size_row(const Settings &settings, std::vector<Row> &rows) {
    Row size{"libhbf.so, stripped", "MiB", "", Bar::at_most, 4, {}, {}, {}, {}};
    if (!settings.wants(size.name)) return;
    const auto library = settings.build + "/core/libhbf.so";
    auto stripped = (fs::temp_directory_path() / fmt::format("hbf-bench-{}.so", getpid())).string();
    try {
        seconds_of({"strip", "-o", stripped, library});
        size.ours.push_back(static_cast<double>(fs::file_size(stripped)) / (1 << 20));
    } catch (const std::exception &error) {
        size.missing = error.what();
    }
    std::error_code ignored;
    fs::remove(stripped, ignored);
    rows.push_back(size);
}

} // namespace

void process_rows(const Settings &settings, std::vector<Row> &rows) {
    probe_rows(settings, rows);
    size_row(settings, rows);
}

} // namespace hbf::bench
