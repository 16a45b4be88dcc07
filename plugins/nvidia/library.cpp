// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/library.hpp"

#include <atomic>
#include <mutex>
#include <string>

#include <dlfcn.h>
#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"

namespace hbf::nvidia {
namespace {

constexpr const char *remedy = "remedy: install NVIDIA's driver of release 525 or newer";

template <class Function>
bool take(cuda::GetProcAddress get, const char *name, int since, Function &out) {
    void *found = nullptr;
    if (get(name, &found, since, 0, nullptr) != cuda::success) return false;
    out = reinterpret_cast<Function>(found);
    return found != nullptr;
}

int version_of(void *handle, const char *file) {
    const auto ask = reinterpret_cast<cuda::DriverGetVersion>(::dlsym(handle, "cuDriverGetVersion"));
    if (!ask)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("driver_too_old: {} has no cuDriverGetVersion: it is no CUDA driver; {}", file, remedy));
    int version = 0;
    const cuda::Result code = ask(&version);
    if (code == cuda::stub_library)
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("driver_stub: {} is the build-time stub of the CUDA toolkit; remedy: take its folder out of "
                              "LD_LIBRARY_PATH, or install NVIDIA's driver",
                              file));
    if (code != cuda::success || version < 1000 || version >= 1'000'000)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("driver_too_old: {}: cuDriverGetVersion says {} (code {}), which is no version; {}", file,
                              version, code, remedy));
    if (version < oldest_driver)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("driver_too_old: {} serves CUDA {}.{}, {}.{} is the least; {}", file, version / 1000,
                              version % 1000 / 10, oldest_driver / 1000, oldest_driver % 1000 / 10, remedy));
    return version;
}

} // namespace

Driver load_driver(const char *file) {
    // Never closed: drivers leave threads behind.
    void *const handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *const why = ::dlerror();
        sdk::fail(HBF_UNAVAILABLE, fmt::format("driver_absent: the CUDA driver {} cannot be opened: {}; {}", file,
                                               why ? why : "no reason given", remedy));
    }
    Driver table;
    table.version = version_of(handle, file);
    const auto get = reinterpret_cast<cuda::GetProcAddress>(::dlsym(handle, "cuGetProcAddress_v2"));
    if (!get)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("driver_too_old: {} lacks cuGetProcAddress_v2, which came with CUDA 12.0; {}", file, remedy));
    std::string missing;
    int count = 0; // the first few are named: the remedy must not drown
#define HBF_CUDA_TAKE(name, since, parameters)                                                                              \
    if (!take(get, "cu" #name, since, table.name) && ++count <= 3) missing += "cu" #name ", ";
    HBF_CUDA_FUNCTIONS(HBF_CUDA_TAKE)
#undef HBF_CUDA_TAKE
    if (count > 0)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("driver_too_old: {} lacks functions: {}{} in all; {}", file, missing, count, remedy));
#define HBF_CUDA_TAKE(name, since, parameters) take(get, "cu" #name, since, table.name);
    HBF_CUDA_OPTIONAL_FUNCTIONS(HBF_CUDA_TAKE)
#undef HBF_CUDA_TAKE
    return table;
}

const Driver &driver() {
    // Not a destructed static: a process may exit while instances live.
    static std::mutex mutex;
    static std::atomic<const Driver *> loaded{nullptr};
    if (const Driver *const table = loaded.load(std::memory_order_acquire)) return *table;
    const std::lock_guard lock(mutex);
    if (const Driver *const table = loaded.load(std::memory_order_acquire)) return *table;
    const auto *const table = new Driver(load_driver(driver_library));
    loaded.store(table, std::memory_order_release);
    return *table;
}

} // namespace hbf::nvidia
