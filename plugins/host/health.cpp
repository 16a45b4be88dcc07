// SPDX-License-Identifier: Apache-2.0
#include "health.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>

#include <dirent.h>
#include <fmt/format.h>

#include "machine.hpp"
#include "text.hpp"

namespace hbf::host {
namespace {

namespace fs = std::filesystem;

// Entries of a directory that begin with `prefix`, sorted, so that readings keep their order from run to run.
// Not by a directory_iterator: where memory runs out in one, libstdc++ ends the process.
std::vector<fs::path> entries(const fs::path &directory, std::string_view prefix) {
    std::vector<fs::path> found;
    const std::unique_ptr<DIR, int (*)(DIR *)> open(opendir(directory.c_str()), closedir);
    while (const dirent *entry = open ? readdir(open.get()) : nullptr) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != ".." && name.starts_with(prefix)) found.push_back(directory / name);
    }
    std::sort(found.begin(), found.end());
    return found;
}

class Readings {
public:
    void add(hbf_reading_kind kind, std::string_view name, uint64_t value, std::string_view unit) {
        hbf_reading &reading = list_.emplace_back();
        reading.struct_size = sizeof reading;
        reading.kind = kind;
        reading.value = value;
        put_text(reading.name, name);
        put_text(reading.unit, unit);
    }
    void counter(std::string_view name, const fs::path &file, std::string_view unit) {
        if (auto value = read_number(file)) add(HBF_READING_COUNTER, name, *value, unit);
    }
    std::vector<hbf_reading> take() { return std::move(list_); }

private:
    std::vector<hbf_reading> list_;
};

void read_edac(Readings &out, const fs::path &root) {
    for (const fs::path &mc : entries(root / "sys/devices/system/edac/mc", "mc"))
        for (const char *count : {"ce_count", "ue_count"})
            out.counter(fmt::format("edac.{}.{}", mc.filename().native(), count), mc / count, "errors");
}

// "TOTAL_ERR_COR 7" is the last line of each AER file; the sum over all devices tells whether any link is unwell.
void read_aer(Readings &out, const fs::path &root) {
    std::map<std::string, uint64_t> totals;
    for (const fs::path &device : entries(root / "sys/bus/pci/devices", "")) {
        for (const char *kind : {"correctable", "nonfatal", "fatal"}) {
            std::ifstream in(device / fmt::format("aer_dev_{}", kind));
            for (std::string line; std::getline(in, line);) {
                std::istringstream words(line);
                std::string name;
                uint64_t value = 0;
                if (words >> name >> value && name.starts_with("TOTAL_ERR_")) totals[kind] += value;
            }
        }
    }
    for (const auto &[kind, total] : totals) out.add(HBF_READING_COUNTER, "aer." + kind, total, "errors");
}

// Each CPU of a package shows the package's count, and siblings show their core's: the highest is the truth.
void read_throttling(Readings &out, const fs::path &root) {
    std::map<std::string, uint64_t> highest;
    for (const fs::path &cpu : entries(root / "sys/devices/system/cpu", "cpu")) {
        auto package = read_number(cpu / "topology/physical_package_id");
        for (const char *kind : {"core", "package"}) {
            auto count = read_number(cpu / fmt::format("thermal_throttle/{}_throttle_count", kind));
            if (!count) continue;
            uint64_t &value = highest[fmt::format("throttle.package{}.{}_highest", package.value_or(0), kind)];
            value = std::max(value, *count);
        }
    }
    for (const auto &[name, value] : highest) out.add(HBF_READING_COUNTER, name, value, "events");
}

void read_temperature(Readings &out, const fs::path &root) {
    for (const fs::path &zone : entries(root / "sys/class/thermal", "thermal_zone")) {
        auto type = read_line(zone / "type");
        auto millidegrees = read_number(zone / "temp"); // below zero reads as nothing
        if (type && millidegrees)
            out.add(HBF_READING_GAUGE, fmt::format("{}.{}", zone.filename().native(), *type), *millidegrees / 1000,
                    "celsius");
    }
}

// Pages the kernel took out of use after uncorrectable memory errors.
void read_poisoned(Readings &out, const fs::path &root) {
    std::ifstream in(root / "proc/meminfo");
    for (std::string line; std::getline(in, line);) {
        std::istringstream words(line);
        std::string name;
        uint64_t kib = 0;
        if (words >> name >> kib && name == "HardwareCorrupted:")
            out.add(HBF_READING_GAUGE, "memory.hardware_corrupted", kib * 1024, "bytes");
    }
}

} // namespace

std::vector<hbf_reading> HostHealth::read() {
    Readings out;
    read_edac(out, root_);
    read_poisoned(out, root_);
    read_aer(out, root_);
    read_throttling(out, root_);
    read_temperature(out, root_);
    return out.take();
}

} // namespace hbf::host
