// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/kernels/nvrtc.hpp"

#include <array>
#include <mutex>

#include <dlfcn.h>
#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"

namespace hbf::nvidia {
namespace {

using Program = struct ProgramTag *;
// As nvrtc.h declares them; abi_check.cpp compares.
struct Compiler {
    int (*Version)(int *major, int *minor);
    int (*CreateProgram)(Program *program, const char *source, const char *name, int headers, const char *const *texts,
                         const char *const *names);
    int (*DestroyProgram)(Program *program);
    int (*CompileProgram)(Program program, int count, const char *const *options);
    int (*GetProgramLogSize)(Program program, size_t *size);
    int (*GetProgramLog)(Program program, char *text);
    int (*GetCUBINSize)(Program program, size_t *size);
    int (*GetCUBIN)(Program program, char *image);
    const char *(*GetErrorString)(int code);
};

constexpr std::array names = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};

template <class F>
bool take(void *handle, const char *name, F &out) {
    out = reinterpret_cast<F>(::dlsym(handle, name));
    return out != nullptr;
}

Compiler load() {
    std::string tried;
    for (const char *const name : names) {
        void *const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (!handle) {
            const char *const why = ::dlerror();
            tried += fmt::format("{}{}", tried.empty() ? "" : "; ", why ? why : name);
            continue;
        }
        Compiler table{};
        if (take(handle, "nvrtcVersion", table.Version) && take(handle, "nvrtcCreateProgram", table.CreateProgram) &&
            take(handle, "nvrtcDestroyProgram", table.DestroyProgram) &&
            take(handle, "nvrtcCompileProgram", table.CompileProgram) &&
            take(handle, "nvrtcGetProgramLogSize", table.GetProgramLogSize) &&
            take(handle, "nvrtcGetProgramLog", table.GetProgramLog) &&
            take(handle, "nvrtcGetCUBINSize", table.GetCUBINSize) && take(handle, "nvrtcGetCUBIN", table.GetCUBIN) &&
            take(handle, "nvrtcGetErrorString", table.GetErrorString))
            return table;
        tried += fmt::format("{}{} lacks functions of CUDA 11.2", tried.empty() ? "" : "; ", name);
    }
    sdk::fail(HBF_UNAVAILABLE,
              fmt::format("no compiler for kernels: {}; remedy: install NVRTC (cuda-nvrtc of CUDA 11.2 or newer), or build "
                          "HBF with -Dgpu_arch for this device",
                          tried));
}

const Compiler &compiler() {
    static std::mutex mutex;
    static const Compiler *loaded = nullptr; // not destructed: a process may exit while instances live
    const std::lock_guard lock(mutex);
    if (!loaded) loaded = new Compiler(load());
    return *loaded;
}

void must(const Compiler &nvrtc, int code, const char *what) {
    if (code != 0) sdk::fail(HBF_UNAVAILABLE, fmt::format("{}: {} ({})", what, nvrtc.GetErrorString(code), code));
}

std::string log_of(const Compiler &nvrtc, Program program) {
    size_t size = 0;
    if (nvrtc.GetProgramLogSize(program, &size) != 0 || size <= 1) return "";
    std::string text(size, '\0');
    if (nvrtc.GetProgramLog(program, text.data()) != 0) return "";
    while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
    return text;
}

} // namespace

std::string nvrtc_version() {
    const Compiler &nvrtc = compiler();
    int major = 0, minor = 0;
    must(nvrtc, nvrtc.Version(&major, &minor), "nvrtcVersion");
    return fmt::format("NVRTC {}.{}", major, minor);
}

std::string compile_cuda(const std::string &source, const std::string &name, const std::string &architecture,
                         std::string &log) {
    const Compiler &nvrtc = compiler();
    Program program = nullptr;
    must(nvrtc, nvrtc.CreateProgram(&program, source.c_str(), (name + ".cu").c_str(), 0, nullptr, nullptr),
         "nvrtcCreateProgram");
    struct End {
        const Compiler &nvrtc;
        Program program;
        ~End() { (void)nvrtc.DestroyProgram(&program); }
    } const end{nvrtc, program};
    // As the twin computes: no product is rounded together with a sum (kernels/device/float32.h).
    const std::string target = "--gpu-architecture=" + architecture;
    const char *const options[] = {target.c_str(), "-fmad=false", "-std=c++17"};
    const int code = nvrtc.CompileProgram(program, 3, options);
    log = log_of(nvrtc, program);
    if (code != 0)
        sdk::fail(HBF_UNAVAILABLE,
                  fmt::format("kernel {} does not compile for {}: {} ({}): {}", name, architecture,
                              nvrtc.GetErrorString(code), code, log.empty() ? "no log" : log.substr(0, log.find('\n'))));
    size_t size = 0;
    must(nvrtc, nvrtc.GetCUBINSize(program, &size), "nvrtcGetCUBINSize");
    std::string image(size, '\0');
    must(nvrtc, nvrtc.GetCUBIN(program, image.data()), "nvrtcGetCUBIN");
    return image;
}

} // namespace hbf::nvidia
