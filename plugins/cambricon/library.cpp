// SPDX-License-Identifier: Apache-2.0
#include "plugins/cambricon/library.hpp"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <vector>

#include <dlfcn.h>
#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"

namespace hbf::cambricon {
namespace {

constexpr int oldest_major = 6, most_number = 9999;

template <class Function>
bool take(void *handle, const char *name, Function &out) {
    out = reinterpret_cast<Function>(::dlsym(handle, name));
    return out != nullptr;
}

// By the linker's own search, then where Cambricon's packages put it. The environment of a set-uid program is its caller's.
struct Opened {
    void *handle = nullptr;
    std::string file, why;
};
Opened open(const char *name) {
    std::vector<std::string> files = {name};
    if (const char *const home = ::secure_getenv("NEUWARE_HOME"); home && home[0] == '/')
        files.push_back(fmt::format("{}/lib64/{}", home, name));
    files.push_back(fmt::format("/usr/local/neuware/lib64/{}", name));
    Opened out;
    for (const std::string &file : files) {
        out.handle = ::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        out.file = file;
        if (out.handle) return out;
        const char *const why = ::dlerror();
        out.why += fmt::format("{}{}", out.why.empty() ? "" : "; ", why ? why : "no reason given");
    }
    return out;
}

void take_cnrt(void *handle, Library &out) {
    Cnrt &cnrt = out.cnrt;
    std::string missing;
    int count = 0; // the first few are named: the remedy must not drown
    const auto need = [&](const char *name, auto &function) {
        if (!take(handle, name, function) && ++count <= 3) missing += fmt::format("{}, ", name);
    };
#define HBF_CNRT_NEED(name) need("cnrt" #name, cnrt.name)
    HBF_CNRT_NEED(GetLibVersion);
    HBF_CNRT_NEED(GetDeviceCount);
    HBF_CNRT_NEED(SetDevice);
    HBF_CNRT_NEED(GetDevice);
    HBF_CNRT_NEED(DeviceGetAttribute);
    HBF_CNRT_NEED(DeviceGetPCIBusId);
    HBF_CNRT_NEED(Malloc);
    HBF_CNRT_NEED(Free);
    HBF_CNRT_NEED(HostMalloc);
    HBF_CNRT_NEED(FreeHost);
    HBF_CNRT_NEED(MemGetInfo);
    HBF_CNRT_NEED(MemsetAsync);
    HBF_CNRT_NEED(QueueCreate);
    HBF_CNRT_NEED(QueueDestroy);
    HBF_CNRT_NEED(QueueQuery);
    HBF_CNRT_NEED(QueueSync);
    HBF_CNRT_NEED(QueueWaitNotifier);
    HBF_CNRT_NEED(NotifierCreate);
    HBF_CNRT_NEED(NotifierDestroy);
    HBF_CNRT_NEED(PlaceNotifier);
    HBF_CNRT_NEED(QueryNotifier);
    HBF_CNRT_NEED(InvokeHostFunc);
    HBF_CNRT_NEED(GetErrorStr);
#undef HBF_CNRT_NEED
    if (!take(handle, "cnrtMemcpyAsync_V3", cnrt.MemcpyAsync) && !take(handle, "cnrtMemcpyAsync_V2", cnrt.MemcpyAsync))
        need("cnrtMemcpyAsync", cnrt.MemcpyAsync);
    if (count > 0)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("driver_too_old: {} lacks functions of CNRT 6.0: {}{} in all; remedy: CNToolkit "
                              "3.0 or newer",
                              out.file, missing, count));
    take(handle, "cnrtNotifierCreateWithFlags", cnrt.NotifierCreateWithFlags);
    take(handle, "cnrtDriverGetVersion", cnrt.DriverGetVersion);
    take(handle, "cnrtGetErrorName", cnrt.GetErrorName);
}

// From a version that is nonsense nothing follows, neither that it is new enough nor that it is not.
void check_version(Library &library) {
    Version &version = library.version;
    if (const int code = library.cnrt.GetLibVersion(&version.major, &version.minor, &version.patch); code != code::success)
        sdk::fail(HBF_INTERNAL, fmt::format("{}: cnrtGetLibVersion: {}", library.file, code));
    const auto odd = [](int number) { return number < 0 || number > most_number; };
    if (odd(version.major) || odd(version.minor) || odd(version.patch))
        sdk::fail(HBF_INTERNAL,
                  fmt::format("{} says that it is CNRT {}, which is no version; remedy: install CNToolkit again",
                              library.file, version.text()));
    if (version.major < oldest_major)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("driver_too_old: {} is CNRT {}, and 6.0 is the oldest that is served: before it functions had "
                              "other names and arguments; remedy: CNToolkit 3.0 or newer",
                              library.file, version.text()));
}

void take_cndrv(Library &out) {
    const Opened opened = open("libcndrv.so");
    if (!opened.handle) {
        out.no_names = opened.why;
        return;
    }
    take(opened.handle, "cnInit", out.drv.Init);
    take(opened.handle, "cnDeviceGet", out.drv.DeviceGet);
    take(opened.handle, "cnDeviceGetName", out.drv.DeviceGetName);
    take(opened.handle, "cnGetLibVersion", out.drv.GetLibVersion);
    take(opened.handle, "cnGetDriverVersion", out.drv.GetDriverVersion);
    if (!out.drv.Init || !out.drv.DeviceGet || !out.drv.DeviceGetName) {
        out.drv = {};
        out.no_names = fmt::format("{} lacks cnInit, cnDeviceGet or cnDeviceGetName", opened.file);
    }
}

void take_cndev(Library &out) {
    const Opened opened = open("libcndev.so");
    if (!opened.handle) {
        out.no_health = opened.why;
        return;
    }
    Cndev &dev = out.dev;
    take(opened.handle, "cndevInit", dev.Init);
    take(opened.handle, "cndevGetDeviceHandleByPciBusId", dev.GetDeviceHandleByPciBusId);
    take(opened.handle, "cndevGetECCInfo", dev.GetECCInfo);
    take(opened.handle, "cndevGetPcieReplayCounter", dev.GetPcieReplayCounter);
    take(opened.handle, "cndevGetRemappedRows", dev.GetRemappedRows);
    take(opened.handle, "cndevGetTemperatureInfo", dev.GetTemperatureInfo);
    take(opened.handle, "cndevGetCurrentPCIInfo", dev.GetCurrentPCIInfo);
    take(opened.handle, "cndevGetCardHealthState", dev.GetCardHealthState);
    if (!dev.Init || !dev.GetDeviceHandleByPciBusId) {
        dev = {};
        out.no_health = fmt::format("{} lacks cndevInit or cndevGetDeviceHandleByPciBusId", opened.file);
    }
}

Library load() {
    Library out;
    const Opened opened = open("libcnrt.so"); // pulls in CNDrv itself; no versioned name of it is known
    out.file = opened.file;
    if (!opened.handle)
        sdk::fail(HBF_UNAVAILABLE, fmt::format("driver_absent: libcnrt.so cannot be opened: {}; remedy: install Cambricon's "
                                               "CNToolkit, or set NEUWARE_HOME to where it is",
                                               opened.why));
    take_cnrt(opened.handle, out);
    check_version(out);
    take_cndrv(out);
    take_cndev(out);
    return out;
}

} // namespace

std::string Version::text() const {
    return fmt::format("{}.{}.{}", major, minor, patch);
}

const Library &library() {
    // Not a destructed static: a process may exit while instances live.
    static std::mutex mutex;
    static std::atomic<const Library *> loaded{nullptr};
    if (const Library *const table = loaded.load(std::memory_order_acquire)) return *table;
    const std::lock_guard lock(mutex);
    if (const Library *const table = loaded.load(std::memory_order_acquire)) return *table;
    const auto *const table = new Library(load());
    loaded.store(table, std::memory_order_release);
    return *table;
}

} // namespace hbf::cambricon
