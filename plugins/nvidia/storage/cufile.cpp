// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/storage/cufile.hpp"

#include <mutex>

#include <dlfcn.h>
#include <fmt/format.h>

namespace hbf::nvidia::cufile {
namespace {

constexpr const char *library = "libcufile.so.0";

struct Opened {
    Functions functions;
    std::string why;
};

} // namespace

std::string load(const char *file, Functions &out) {
    void *const handle = ::dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        const char *const said = ::dlerror();
        return said ? said : file;
    }
    std::string missing;
    const auto take = [&](const char *name, auto &function) {
        function = reinterpret_cast<std::decay_t<decltype(function)>>(::dlsym(handle, name));
        if (!function) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
    };
    take("cuFileDriverOpen", out.DriverOpen);
    take("cuFileHandleRegister", out.HandleRegister);
    take("cuFileHandleDeregister", out.HandleDeregister);
    take("cuFileReadAsync", out.ReadAsync);
    take("cuFileWriteAsync", out.WriteAsync);
    if (!missing.empty()) return fmt::format("{} lacks functions of release 1.7: {}", file, missing);
    const Error error = out.DriverOpen();
    return error.code == 0 ? "" : fmt::format("{}: cuFileDriverOpen gives {} (CUDA {})", file, error.code, error.cuda);
}

const Functions *functions(std::string &why) {
    static std::mutex mutex;
    static Opened *opened = nullptr; // never destroyed: a process may exit while instances live
    const std::lock_guard lock(mutex);
    if (!opened || !opened->why.empty()) {
        auto *const made = new Opened; // what failed is tried again
        made->why = load(library, made->functions);
        delete opened;
        opened = made;
    }
    why = opened->why;
    return why.empty() ? &opened->functions : nullptr;
}

} // namespace hbf::nvidia::cufile
