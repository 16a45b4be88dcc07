// SPDX-License-Identifier: Apache-2.0
// An emulated cuFile in its compatibility mode: bytes go through the CPU, whole pages at a time, as O_DIRECT wants them. An
// asynchronous move runs in its turn in the stream, and looks at its parameters only then ("cuFileReadAsync": the values
// that the pointers show are read when the operation runs, so they must stay).
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include "conformance/emulators/calls/calls.hpp"
#include "conformance/emulators/nvidia/cuda/functions.hpp"
#include "conformance/emulators/nvidia/cufile/api.hpp"
#include "conformance/sim/model/machine.hpp"

namespace hbf::emulated::cufile {

extern "C" {
#define F(result, symbol, parameters) HBF_EXPORTED result symbol parameters;
#include "conformance/emulators/nvidia/cufile/functions.inc"
#undef F
}

struct File {
    int fd = -1;
    std::mutex mutex; // a page that is written in part is read first
};

namespace {

constexpr size_t page = 4096, piece = 1 << 20;
std::atomic<bool> open_driver{false};

enum class Call : size_t {
#define F(result, symbol, parameters) symbol,
#include "conformance/emulators/nvidia/cufile/functions.inc"
#undef F
};
constexpr const char *names[] = {
#define F(result, symbol, parameters) #symbol,
#include "conformance/emulators/nvidia/cufile/functions.inc"
#undef F
};
void count(Call function) {
    static Calls calls("libcufile.so.0", names, std::size(names));
    calls.count(static_cast<size_t>(function));
}

using Pages = std::unique_ptr<std::byte, decltype(&std::free)>;
Pages pages() {
    Pages out(static_cast<std::byte *>(std::aligned_alloc(page, piece + page)), &std::free);
    if (!out) throw std::bad_alloc();
    return out;
}

// Of the model's memory, or of the process's own.
bool get(const void *from, std::byte *to, size_t size) {
    const auto at = reinterpret_cast<uint64_t>(from);
    if (!model::machine()->memory().find(at)) return std::memcpy(to, from, size), true;
    return model::machine()->memory().peek(at, to, size) == model::Outcome::ok;
}
bool put(void *to, const std::byte *from, size_t size) {
    const auto at = reinterpret_cast<uint64_t>(to);
    if (!model::machine()->memory().find(at)) return std::memcpy(to, from, size), true;
    return model::machine()->memory().poke(at, from, size) == model::Outcome::ok;
}

// Bytes moved, or -1 with errno.
ssize_t move(File &file, bool write, std::byte *memory, size_t size, off_t in_file) {
    thread_local const Pages buffer = pages();
    const std::lock_guard lock(file.mutex);
    size_t moved = 0;
    while (moved < size) {
        const off_t at = in_file + static_cast<off_t>(moved),
                    begin = at / static_cast<off_t>(page) * static_cast<off_t>(page);
        const auto lead = static_cast<size_t>(at - begin);
        const size_t now = std::min(piece - lead, size - moved), whole = (lead + now + page - 1) / page * page;
        std::byte *const bytes = buffer.get() + lead;
        const ssize_t got = !write || lead != 0 || now % page != 0 ? ::pread(file.fd, buffer.get(), whole, begin)
                                                                   : static_cast<ssize_t>(whole);
        if (got < 0) return -1;
        const size_t here = std::min(now, static_cast<size_t>(got) - std::min(static_cast<size_t>(got), lead));
        if (here == 0) break; // the end of the file
        if (write) {
            if (!get(memory + moved, bytes, here)) return errno = EFAULT, -1;
            if (::pwrite(file.fd, buffer.get(), whole, begin) != static_cast<ssize_t>(whole)) return -1;
        } else if (!put(memory + moved, bytes, here)) {
            return errno = EFAULT, -1;
        }
        moved += here;
        if (here < now) break;
    }
    return static_cast<ssize_t>(moved);
}

struct Operation {
    File *file = nullptr;
    bool write = false;
    std::byte *memory = nullptr;
    size_t *size = nullptr;
    off_t *in_file = nullptr, *in_memory = nullptr;
    ssize_t *done = nullptr;
    Operation *next = nullptr; // of those that nobody uses
};

// Kept, so that a program that is warm pays for no memory.
class Operations {
public:
    Operation *take(const Operation &what) {
        const std::lock_guard lock(mutex_);
        if (!free_) free_ = new Operation;
        Operation *const out = std::exchange(free_, free_->next);
        *out = what;
        return out;
    }
    void give(Operation *what) noexcept {
        const std::lock_guard lock(mutex_);
        what->next = std::exchange(free_, what);
    }

private:
    std::mutex mutex_;
    Operation *free_ = nullptr;
};
Operations &operations() {
    static auto &all = *new Operations; // calls may come after exit() began
    return all;
}

void run(void *argument) {
    auto *const what = static_cast<Operation *>(argument);
    *what->done = move(*what->file, what->write, what->memory + *what->in_memory, *what->size, *what->in_file);
    operations().give(what);
}

CUfileError_t later(const Operation &what, cuda::CUstream stream) {
    if (!open_driver) return {DRIVER_NOT_INITIALIZED, 0};
    if (!what.file) return {HANDLE_NOT_REGISTERED, 0};
    if (!what.memory || !what.size || !what.in_file || !what.in_memory || !what.done) return {INVALID_VALUE, 0};
    Operation *const operation = operations().take(what);
    const cuda::CUresult code = cuda::cuLaunchHostFunc(stream, run, operation);
    if (code == cuda::SUCCESS) return {SUCCESS, 0};
    operations().give(operation);
    return {CUDA_DRIVER_ERROR, static_cast<int>(code)};
}

ssize_t at_once(File *file, bool write, std::byte *memory, size_t size, off_t in_file, off_t in_memory) {
    if (!open_driver) return -DRIVER_NOT_INITIALIZED;
    if (!file) return -HANDLE_NOT_REGISTERED;
    return move(*file, write, memory + in_memory, size, in_file);
}

} // namespace

extern "C" {

CUfileError_t cuFileDriverOpen() {
    count(Call::cuFileDriverOpen);
    if (!model::machine()) return {CUDA_DRIVER_ERROR, 100};
    open_driver = true;
    return {SUCCESS, 0};
}

CUfileError_t cuFileDriverClose() {
    count(Call::cuFileDriverClose);
    open_driver = false;
    return {SUCCESS, 0};
}

CUfileError_t cuFileHandleRegister(CUfileHandle_t *out, CUfileDescr_t *what) {
    count(Call::cuFileHandleRegister);
    if (!open_driver) return {DRIVER_NOT_INITIALIZED, 0};
    if (!out || !what || what->type != 1) return {INVALID_VALUE, 0};
    const int flags = ::fcntl(what->handle.fd, F_GETFL);
    if (flags < 0 || (flags & O_DIRECT) == 0) return {INVALID_FILE_TYPE, 0};
    auto file = std::make_unique<File>();
    file->fd = what->handle.fd;
    *out = file.release();
    return {SUCCESS, 0};
}

void cuFileHandleDeregister(CUfileHandle_t file) {
    count(Call::cuFileHandleDeregister);
    delete file;
}

CUfileError_t cuFileBufRegister(const void *memory, size_t, int) {
    count(Call::cuFileBufRegister);
    return {memory ? SUCCESS : INVALID_VALUE, 0};
}

CUfileError_t cuFileBufDeregister(const void *memory) {
    count(Call::cuFileBufDeregister);
    return {memory ? SUCCESS : INVALID_VALUE, 0};
}

ssize_t cuFileRead(CUfileHandle_t file, void *memory, size_t size, off_t in_file, off_t in_memory) {
    count(Call::cuFileRead);
    return at_once(file, false, static_cast<std::byte *>(memory), size, in_file, in_memory);
}

ssize_t cuFileWrite(CUfileHandle_t file, const void *memory, size_t size, off_t in_file, off_t in_memory) {
    count(Call::cuFileWrite);
    return at_once(file, true, static_cast<std::byte *>(const_cast<void *>(memory)), size, in_file, in_memory);
}

CUfileError_t cuFileReadAsync(CUfileHandle_t file, void *memory, size_t *size, off_t *in_file, off_t *in_memory,
                              ssize_t *done, cuda::CUstream stream) {
    count(Call::cuFileReadAsync);
    return later({file, false, static_cast<std::byte *>(memory), size, in_file, in_memory, done, nullptr}, stream);
}

CUfileError_t cuFileWriteAsync(CUfileHandle_t file, void *memory, size_t *size, off_t *in_file, off_t *in_memory,
                               ssize_t *done, cuda::CUstream stream) {
    count(Call::cuFileWriteAsync);
    return later({file, true, static_cast<std::byte *>(memory), size, in_file, in_memory, done, nullptr}, stream);
}

} // extern "C"
} // namespace hbf::emulated::cufile
