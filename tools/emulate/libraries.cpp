// SPDX-License-Identifier: Apache-2.0
#include "tools/emulate/libraries.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "conformance/runner/programs.hpp"

namespace hbf::tools::emulate {
namespace {

namespace fs = std::filesystem;

// The build folder that this command is in; "" if it is installed.
fs::path build_folder() {
    std::error_code error;
    fs::path at = fs::canonical("/proc/self/exe", error).parent_path();
    for (int up = 0; up < 4 && at.has_relative_path(); ++up, at = at.parent_path())
        if (fs::is_regular_file(at / "build.ninja", error)) return at;
    return {};
}

fs::path folder(const fs::path &path) {
    std::error_code error;
    return fs::is_directory(path, error) ? fs::canonical(path, error) : fs::path();
}

// A Level Zero driver is no library that the loader finds by its name: it is told which file.
fs::path level_zero_driver(const fs::path &below) {
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(below, error)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("libze_") && name.find(".so") != std::string::npos && entry.is_regular_file(error))
            return entry.path();
    }
    return {};
}

// Those that are asked for their functions by name can deny one; of others there is a library without it, for tests.
bool hides_a_function(const std::string &vendor) {
    return vendor == "nvidia" || vendor == "level_zero";
}

fs::path runtime_that_lacks(const fs::path &vendor_folder) {
    const fs::path beside = folder(vendor_folder / "lacking");
    return beside.empty() ? folder(vendor_folder / "tests" / "lacking") : beside;
}

} // namespace

fs::path emulators_folder() {
    if (const fs::path build = build_folder(); !build.empty()) return folder(build / "conformance/emulators");
    return folder(conformance::library_folder() / "hbf/emulators");
}

fs::path profiles_folder() {
    if (const fs::path build = build_folder(); !build.empty()) return folder(build / "conformance/sim/profiles");
    std::error_code error;
    return folder(fs::canonical("/proc/self/exe", error).parent_path().parent_path() / "share/hbf/profiles");
}

std::vector<std::string> profile_names() {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(profiles_folder(), error))
        if (entry.path().extension() == ".toml") names.push_back(entry.path().stem().string());
    std::sort(names.begin(), names.end());
    return names;
}

std::set<std::string> vendors_of(const model::Profile &profile) {
    std::set<std::string> vendors;
    for (const model::ProfileDevice &device : profile.devices)
        if (device.vendor != "generic") vendors.insert(device.vendor); // generic: the sim plugin's own
    return vendors;
}

Result<std::vector<std::string>> runtime_variables(const std::set<std::string> &vendors, const std::string &library_path,
                                                   bool lacking) {
    const fs::path all = emulators_folder();
    if (!vendors.empty() && all.empty())
        return fail(Code::unavailable, "no emulated runtimes are here; remedy: build or install hbf whole");
    std::string path;
    std::vector<std::string> out;
    for (const std::string &vendor : vendors) {
        const fs::path here = folder(all / vendor);
        if (here.empty())
            return fail(Code::unavailable,
                        fmt::format("no runtime of {} is emulated here: {} is not there; remedy: build or install hbf whole",
                                    vendor, (all / vendor).string()));
        if (lacking && !hides_a_function(vendor)) {
            const fs::path other = runtime_that_lacks(here);
            if (other.empty())
                return fail(Code::unavailable,
                            fmt::format("no runtime of {} that lacks a function is in {}; remedy: a build folder with tests "
                                        "has one",
                                        vendor, here.string()));
            path += other.string() + ":";
        }
        path += here.string() + ":";
        if (vendor != "level_zero") continue;
        const fs::path driver = level_zero_driver(here);
        if (driver.empty()) return fail(Code::unavailable, fmt::format("no driver is in {}", here.string()));
        out.push_back("ZE_ENABLE_ALT_DRIVERS=" + driver.string());
    }
    path += library_path;
    if (path.ends_with(':')) path.pop_back();
    if (!path.empty()) out.push_back("LD_LIBRARY_PATH=" + path);
    return out;
}

} // namespace hbf::tools::emulate
