// SPDX-License-Identifier: Apache-2.0
// A libOpenCL.so.1 for tests: platforms and devices that behave as the test says. It moves bytes and runs kernels by their
// host twins, at once in the calling thread, so it tells how a plugin uses OpenCL and nothing about any device.
//
// HBF_FAKE_OPENCL holds what is not as usual, NAME=VALUE separated by ';', read anew at each call:
//     platforms=N  devices=N       how many; devices of each platform
//     crash=P  hang=P  error=P     platform P does so when it is asked for its devices (error: CL_OUT_OF_HOST_MEMORY)
//     type=cpu|gpu|accelerator     name=  driver=  version=OpenCL 3.0 ...  extensions=  profile=
//     local=  largest=  memory=    bytes: of a group, of one allocation, of all
//     groups=N                     most work-items in a group
//     compiler=0  little=0  c11=0  has none, is big-endian, has no C11 atomics
//     build=fail|lost              every build from a text ends so (lost: CL_DEVICE_NOT_AVAILABLE)
//     slow=N                       a build from a text takes so many ms more
//     meet=N                       a build from a text waits until N have begun, by lines of `trace`
//     binary=refuse|late|none      a program from a binary is refused when made, or when built; none are given out
//     fail=clNAME:CODE:N,...       the N-th call of this function, and all later ones, return CODE
//     die=clNAME                   this function crashes
//     lost=CODE:N                  the N-th command, and all later ones, end with CODE
//     trace=FILE                   gets a line a build ("source copy", "binary copy"), by all processes
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "kernels/device/catalogue.hpp"
#include "plugins/opencl/cl.hpp"

namespace hbf::opencl::fake {

// As a word of HBF_FAKE_OPENCL says, or `otherwise`.
std::string setting(std::string_view name, const std::string &otherwise = {});
uint64_t number(std::string_view name, uint64_t otherwise);
// CL_SUCCESS, or what `fail` wants of this call.
cl_int wanted(std::string_view function);
void trace(const std::string &line);
size_t traced(std::string_view line); // how often it is there

// Objects of the runtime that nobody has released; the plugin's own and those of a launch.
std::atomic<int64_t> &alive() noexcept;

// What this thread allocates in the runtime, by the meter that the test gave it: the rest is the plugin's.
using Meter = uint64_t (*)() noexcept;
class Own {
public:
    Own() : before_(measured()) {}
    ~Own() { total() += measured() - before_; }
    Own(const Own &) = delete;
    Own &operator=(const Own &) = delete;
    static std::atomic<Meter> &meter() noexcept;
    static uint64_t &total() noexcept;

private:
    static uint64_t measured() {
        const Meter meter = Own::meter();
        return meter ? meter() : 0;
    }
    const uint64_t before_;
};

struct Object {
    std::atomic<int> references{1};
    Object() { ++alive(); }
    ~Object() { --alive(); }
    Object(const Object &) = delete;
    Object &operator=(const Object &) = delete;
};
template <class T>
cl_int release(T *object, cl_int otherwise) {
    if (!object) return otherwise;
    if (--object->references == 0) delete object;
    return CL_SUCCESS;
}
template <class T>
T *retain(T *object) {
    ++object->references;
    return object;
}

template <class T>
cl_int give(const T *values, size_t count, size_t size, void *out, size_t *needed) {
    const size_t bytes = count * sizeof(T);
    if (out && size < bytes) return CL_INVALID_VALUE;
    if (out) std::memcpy(out, values, bytes);
    if (needed) *needed = bytes;
    return CL_SUCCESS;
}
template <class T>
cl_int give(const T &value, size_t size, void *out, size_t *needed) {
    return give(&value, 1, size, out, needed);
}
inline cl_int give(const std::string &text, size_t size, void *out, size_t *needed) {
    return give(text.c_str(), text.size() + 1, size, out, needed);
}
template <class T>
T *made(T *object, cl_int code, cl_int *out) {
    if (out) *out = code;
    return object;
}

} // namespace hbf::opencl::fake

// What Khronos' handles point to.
struct _cl_platform_id {
    uint32_t index = 0;
};
struct _cl_device_id {
    uint32_t platform = 0, index = 0;
};
struct _cl_context : hbf::opencl::fake::Object {
    cl_device_id device = nullptr;
};
struct _cl_command_queue : hbf::opencl::fake::Object {
    cl_context context = nullptr;
};
struct _cl_mem : hbf::opencl::fake::Object {
    ~_cl_mem();
    cl_mem parent = nullptr; // of a sub-buffer, retained
    std::unique_ptr<unsigned char[]> own;
    unsigned char *bytes = nullptr;
    size_t size = 0;
};
struct _cl_event : hbf::opencl::fake::Object {
    cl_int status = CL_COMPLETE; // or an error
};
struct _cl_program : hbf::opencl::fake::Object {
    std::string text, log;
    bool from_binary = false;
    const hbf::kernels::device::Kernel *kernel = nullptr; // once built
};
struct _cl_kernel : hbf::opencl::fake::Object {
    ~_cl_kernel();
    cl_program program = nullptr;
    std::map<cl_uint, std::string> parameters; // their bytes
    std::thread::id setter;                    // who sets parameters for the next launch
};
