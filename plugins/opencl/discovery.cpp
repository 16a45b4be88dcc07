// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/discovery.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include "hbf/sdk/text.hpp"
#include "plugins/opencl/asker.hpp"
#include "plugins/opencl/errors.hpp"

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define HBF_NO_THREADS_AFTER_FORK 1
#endif
#elif defined(__SANITIZE_THREAD__)
#define HBF_NO_THREADS_AFTER_FORK 1
#endif

namespace hbf::opencl {
namespace {

// Set once the runtime is in this process, where its answers do not change any more. Never destroyed: see library().
struct Kept {
    std::mutex mutex;
    std::optional<Survey> survey;
};
Kept &kept() {
    static Kept *const one = new Kept;
    return *one;
}

Survey ask(const Functions &cl) {
#ifdef HBF_NO_THREADS_AFTER_FORK
    return ask_here(cl); // that sanitizer ends a child of a process with threads when it starts one of its own
#else
    return ask_in_child(cl);
#endif
}

std::string joined(const std::vector<std::string> &sentences) {
    return fmt::format("{}", fmt::join(sentences, "; "));
}

// Unique, whatever several platforms call the same card.
void make_ids_unique(std::vector<Found> &devices) {
    for (size_t i = 0; i < devices.size(); ++i) {
        const std::string id = devices[i].info.id;
        for (size_t j = i + 1; j < devices.size(); ++j)
            if (id == devices[j].info.id)
                sdk::set_text(devices[j].info.id, fmt::format("{:.50}-p{}d{}", id, devices[j].platform, devices[j].device));
    }
}

std::string lower(std::string_view text) {
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

// A number is an index; anything else part of a name, in any case.
bool admits(const std::string &wanted, uint32_t index, std::initializer_list<std::string_view> names) {
    uint32_t number = 0;
    const auto [end, error] = std::from_chars(wanted.data(), wanted.data() + wanted.size(), number);
    if (error == std::errc() && end == wanted.data() + wanted.size()) return number == index;
    return std::any_of(names.begin(), names.end(),
                       [&](std::string_view name) { return lower(name).find(lower(wanted)) != std::string::npos; });
}

} // namespace

Survey survey() {
    Kept &known = kept();
    const std::lock_guard lock(known.mutex);
    if (known.survey) return *known.survey;
    Survey found = ask(library());
    std::stable_sort(found.devices.begin(), found.devices.end(), [](const Found &a, const Found &b) {
        return (a.info.flags & HBF_DEVICE_ON_CPU) < (b.info.flags & HBF_DEVICE_ON_CPU);
    });
    make_ids_unique(found.devices);
    if (found.devices.empty())
        sdk::fail(HBF_UNAVAILABLE,
                  found.troubles.empty()
                      ? fmt::format("driver_absent: {} knows no platform: no OpenCL driver is installed; remedy: install "
                                    "that of your device (its file belongs into /etc/OpenCL/vendors)",
                                    library_name)
                      : "no_device: " + joined(found.troubles));
    // A platform that hung took its time: a probe that opens the devices it found does not wait for it again.
    if (!found.troubles.empty()) known.survey = found;
    return found;
}

std::vector<Found> select(const Survey &all, const sdk::Options &options) {
    std::vector<Found> out = all.devices;
    const auto narrow = [&](const char *key, const auto &fits) {
        const auto given = options.find(key);
        if (given == options.end()) return;
        std::string names;
        for (const Found &one : out) names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", fits.name(one));
        std::erase_if(out, [&](const Found &one) { return !fits(given->second, one); });
        if (out.empty())
            sdk::fail(HBF_UNAVAILABLE,
                      fmt::format("no_device: option {} = \"{}\" fits none of {}", key, given->second, names));
    };
    struct ByPlatform {
        std::string name(const Found &one) const { return one.platform_name; }
        bool operator()(const std::string &wanted, const Found &one) const {
            return admits(wanted, one.platform, {one.platform_name});
        }
    };
    struct ByDevice {
        std::string name(const Found &one) const { return one.info.name; }
        bool operator()(const std::string &wanted, const Found &one) const {
            return admits(wanted, one.device, {one.info.id, one.info.name});
        }
    };
    narrow("platform", ByPlatform{});
    narrow("device", ByDevice{});
    return out;
}

OpenedDevice open_device(const Functions &cl, const Found &found, const Survey &all) {
    const auto gone = [&](const std::string &why) {
        sdk::fail(HBF_UNAVAILABLE, fmt::format("OpenCL device \"{}\" is not there any more: {}", found.info.id, why));
    };
    cl_uint count = 0;
    check(cl.GetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
    if (found.platform >= count) gone(fmt::format("there are {} platforms now", count));
    std::vector<cl_platform_id> platforms(count);
    check(cl.GetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    const cl_platform_id platform = platforms[found.platform];
    cl_uint devices = 0;
    if (const cl_int code = cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &devices); code != CL_SUCCESS)
        gone("clGetDeviceIDs: " + error_text(code));
    {
        Kept &known = kept();
        const std::lock_guard lock(known.mutex);
        if (!known.survey) known.survey = all;
    }
    if (found.device >= devices) gone(fmt::format("its platform has {} devices now", devices));
    std::vector<cl_device_id> ids(devices);
    check(cl.GetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, devices, ids.data(), nullptr), "clGetDeviceIDs");
    return {platform, ids[found.device]};
}

} // namespace hbf::opencl
