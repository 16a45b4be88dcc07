// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/library.hpp"

#include <array>
#include <atomic>
#include <mutex>

#include <dlfcn.h>
#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"

namespace hbf::amd {
namespace {

struct Name {
    const char *file;
    int major;
};
// Newest first. The name without a number is a developer's link, to whatever release.
constexpr std::array<Name, 4> hip_names = {
    {{"libamdhip64.so.7", 7}, {"libamdhip64.so.6", 6}, {"libamdhip64.so.5", 5}, {"libamdhip64.so", 0}}};

template <class Member>
bool take(void *handle, const std::string &name, Member &out) {
    out = reinterpret_cast<Member>(::dlsym(handle, name.c_str()));
    return out != nullptr;
}

std::string loader_says() {
    const char *const why = ::dlerror();
    return why ? why : "no reason given";
}

// Local: what a vendor's library finds is its own affair. Never closed: drivers leave threads behind.
constexpr int mode = RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE;

// One that is here already goes before any other: two HIP runtimes in one process do not know of each other's memory.
void *open_hip(Name &found, std::string &why) {
    for (const Name &name : hip_names)
        if (void *const handle = ::dlopen(name.file, mode | RTLD_NOLOAD)) {
            found = name;
            return handle;
        }
    for (const Name &name : hip_names) {
        if (void *const handle = ::dlopen(name.file, mode)) {
            found = name;
            return handle;
        }
        // What is not there at all says less than what is there and cannot be loaded.
        const std::string said = loader_says();
        if (why.empty() || said.find("cannot open shared object file") == std::string::npos || said.find(name.file) != 0)
            why = said;
    }
    return nullptr;
}

Library load() {
    Library out;
    Name found{};
    std::string why;
    out.handle = open_hip(found, why);
    if (!out.handle)
        sdk::fail(
            HBF_UNAVAILABLE,
            fmt::format("driver_absent: no HIP runtime (libamdhip64.so.7, .6 or .5) can be opened: {}; remedy: install "
                        "ROCm's HIP runtime, and put its folder where the dynamic linker looks (/etc/ld.so.conf.d, or "
                        "LD_LIBRARY_PATH)",
                        why));
    out.name = found.file;
    out.major = found.major;
    std::string missing;
    int count = 0, all = 0; // the first few are named: the remedy must not drown
#define HBF_AMD_TAKE(name, ...)                                                                                             \
    ++all;                                                                                                                  \
    if (!take(out.handle, "hip" #name, out.hip.name) && ++count <= 3) missing += "hip" #name ", ";
    HBF_HIP_FUNCTIONS(HBF_AMD_TAKE)
#undef HBF_AMD_TAKE
    if (count == all)
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("driver_stub: {} has none of HIP's functions; remedy: install ROCm's HIP runtime", out.name));
    if (count > 0)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("driver_too_old: {} lacks functions of HIP 5.2: {}{} in all; remedy: ROCm 5.2 or newer",
                              out.name, missing, count));
#define HBF_AMD_TAKE(name, ...) take(out.handle, "hip" #name, out.hip.name);
    HBF_HIP_OPTIONAL_FUNCTIONS(HBF_AMD_TAKE)
#undef HBF_AMD_TAKE
    return out;
}

// Made once, never destroyed: a process may exit while instances live. A failure is tried again next time.
template <class Made, class Make>
const Made &once(const Make &make) {
    static std::mutex mutex;
    static std::atomic<const Made *> kept{nullptr};
    if (const Made *const table = kept.load(std::memory_order_acquire)) return *table;
    const std::lock_guard lock(mutex);
    if (const Made *const table = kept.load(std::memory_order_acquire)) return *table;
    const auto *const table = new Made(make());
    kept.store(table, std::memory_order_release);
    return *table;
}

bool take_compiler(void *handle, HipRtc &out) {
    bool all = true;
#define HBF_AMD_TAKE(name, ...) all &= take(handle, "hiprtc" #name, out.name);
    HBF_HIPRTC_FUNCTIONS(HBF_AMD_TAKE)
#undef HBF_AMD_TAKE
    return all;
}

HipRtc load_compiler() {
    const Library &hip = library();
    HipRtc out;
    const std::string file = hip.major ? fmt::format("libhiprtc.so.{}", hip.major) : "libhiprtc.so";
    void *const handle = ::dlopen(file.c_str(), mode);
    const std::string why = handle ? "it lacks functions" : loader_says();
    if (handle && take_compiler(handle, out)) return out;
    if (take_compiler(hip.handle, out)) return out;
    sdk::fail(HBF_UNAVAILABLE, fmt::format("no run-time compiler: {}: {}, and {} has none", file, why, hip.name));
}

Smi load_smi() {
    std::string said;
    for (const char *const file :
         {"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5", "librocm_smi64.so.1", "librocm_smi64.so"}) {
        void *const handle = ::dlopen(file, mode);
        if (!handle) {
            if (said.empty()) said = loader_says();
            continue;
        }
        Smi out;
        std::string missing;
#define HBF_AMD_TAKE(name, ...)                                                                                             \
    if (!take(handle, "rsmi_" #name, out.name)) missing += missing.empty() ? "rsmi_" #name : ", rsmi_" #name;
        HBF_SMI_FUNCTIONS(HBF_AMD_TAKE)
#undef HBF_AMD_TAKE
        if (!missing.empty()) sdk::fail(HBF_UNSUPPORTED, fmt::format("{} lacks {}", file, missing));
#define HBF_AMD_TAKE(name, ...) take(handle, "rsmi_" #name, out.name);
        HBF_SMI_OPTIONAL_FUNCTIONS(HBF_AMD_TAKE)
#undef HBF_AMD_TAKE
        if (const int code = out.init(0); code != 0)
            sdk::fail(HBF_UNAVAILABLE, fmt::format("{}: rsmi_init gives status {}", file, code));
        return out;
    }
    sdk::fail(HBF_UNAVAILABLE, said);
}

template <class Table, class Make>
const Table *table_or_why(const Make &make, std::string &why) {
    try {
        return &once<Table>(make);
    } catch (const sdk::Failure &failure) {
        why = failure.message;
        return nullptr;
    }
}

} // namespace

const Library &library() {
    return once<Library>(load);
}

bool library_is_here() {
    for (const Name &name : hip_names)
        if (::dlopen(name.file, mode | RTLD_NOLOAD)) return true;
    return false;
}

const HipRtc *compiler(std::string &why) {
    return table_or_why<HipRtc>(load_compiler, why);
}

const Smi *smi(std::string &why) {
    return table_or_why<Smi>(load_smi, why);
}

std::string version_text(int version) {
    if (version < 0) return fmt::format("{}", version);
    return fmt::format("{}.{}.{}", version / 10'000'000, version / 100'000 % 100, version % 100'000);
}

void check_version(int runtime, const Library &from) {
    constexpr int oldest = 50'200'000, beyond = 1'000'000'000; // HIP 5.2, HIP 100
    const std::string text =
        fmt::format("{} says that it is HIP {} (hipRuntimeGetVersion gives {})", from.name, version_text(runtime), runtime);
    if (runtime <= 0 || runtime >= beyond)
        sdk::fail(HBF_UNSUPPORTED,
                  fmt::format("driver_too_old: {}, which is no version; remedy: install ROCm's HIP runtime again", text));
    if (runtime < oldest) sdk::fail(HBF_UNSUPPORTED, fmt::format("driver_too_old: {}; remedy: ROCm 5.2 or newer", text));
    if (from.major != 0 && runtime / 10'000'000 != from.major)
        sdk::fail(
            HBF_UNAVAILABLE,
            fmt::format("driver_absent: {}: files of two ROCm releases are mixed; remedy: install one of them again", text));
}

} // namespace hbf::amd
