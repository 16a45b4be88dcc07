// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/tests/fake.hpp"

#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "hbf/abi/command.h"
#include "kernels/device/catalogue.hpp"

namespace hbf::nvidia {
namespace {

std::unique_ptr<Fake> one;

// Counts the call; what the test wants it to say, 0 if nothing.
cuda::Result called(const char *name, bool takes = false) {
    Fake &f = *one;
    ++f.calls[name];
    if (takes && f.fail_nth > 0 && --f.fail_nth == 0) return cuda::out_of_memory;
    if (const auto all = f.broken.find(name); all != f.broken.end()) return all->second;
    const auto next = f.refuse.find(name);
    if (next == f.refuse.end()) return cuda::success;
    const cuda::Result code = next->second;
    f.refuse.erase(next);
    return code;
}

cuda::Context context_of(int device) {
    return reinterpret_cast<cuda::Context>(static_cast<uintptr_t>(device) + 1);
}
int current_device() {
    return one->current.empty() ? -1 : static_cast<int>(reinterpret_cast<uintptr_t>(one->current.back())) - 1;
}
// Whose memory an address is; -1: the host's.
int home_of(uint64_t at) {
    auto found = one->blocks.upper_bound(at);
    if (found == one->blocks.begin()) return -1;
    --found;
    return at < found->first + found->second.size ? found->second.home : -1;
}
bool crosses(uint64_t a, uint64_t b) {
    const int device = current_device();
    return (home_of(a) >= 0 && home_of(a) != device) || (home_of(b) >= 0 && home_of(b) != device);
}

cuda::Result take_bytes(int device, uint64_t bytes) {
    FakeDevice &of = one->devices.at(static_cast<size_t>(device));
    if (bytes > of.memory - of.used) return cuda::out_of_memory;
    of.used += bytes;
    return cuda::success;
}

cuda::Result keep_block(cuda::Pointer *at, void *made, const Fake::Block &block) {
    const auto address = reinterpret_cast<uint64_t>(made);
    try {
        one->blocks.emplace(address, block);
    } catch (...) {
        std::free(made);
        if (block.home >= 0) one->devices.at(static_cast<size_t>(block.home)).used -= block.size;
        throw;
    }
    *at = address;
    return cuda::success;
}

#define CALLED(name, ...)                                                                                                   \
    if (const cuda::Result code = called(name __VA_OPT__(, ) __VA_ARGS__); code != cuda::success) return code
#define NEEDS_CONTEXT()                                                                                                     \
    if (one->current.empty()) return 201 // CUDA_ERROR_INVALID_CONTEXT

cuda::Result init(unsigned) {
    ++one->calls["cuInit"];
    return one->init;
}
cuda::Result error_name(cuda::Result, const char **text) {
    *text = "CUDA_ERROR_FAKE";
    return cuda::success;
}
cuda::Result error_string(cuda::Result, const char **text) {
    *text = "as the test wants it";
    return cuda::success;
}
cuda::Result count(int *out) {
    *out = static_cast<int>(one->devices.size());
    return called("cuDeviceGetCount");
}
cuda::Result get(cuda::Device *out, int ordinal) {
    *out = ordinal;
    return called("cuDeviceGet");
}
cuda::Result name(char *text, int size, cuda::Device device) {
    std::strncpy(text, one->devices.at(static_cast<size_t>(device)).name.c_str(), static_cast<size_t>(size));
    return called("cuDeviceGetName");
}
cuda::Result uuid(cuda::Uuid *out, cuda::Device device) {
    std::memset(out, device + 1, sizeof *out);
    return cuda::success;
}
cuda::Result total(size_t *bytes, cuda::Device device) {
    *bytes = one->devices.at(static_cast<size_t>(device)).memory;
    return called("cuDeviceTotalMem");
}
cuda::Result attribute_of(int *value, int which, cuda::Device device) {
    const auto &all = one->devices.at(static_cast<size_t>(device)).attributes;
    const auto found = all.find(which);
    if (found == all.end()) return cuda::invalid_value;
    *value = found->second;
    return cuda::success;
}
cuda::Result pci(char *text, int size, cuda::Device device) {
    std::strncpy(text, one->devices.at(static_cast<size_t>(device)).pci.c_str(), static_cast<size_t>(size));
    return cuda::success;
}
cuda::Result can_access(int *can, cuda::Device, cuda::Device) {
    *can = one->can_access_peers;
    return cuda::success;
}
cuda::Result retain(cuda::Context *out, cuda::Device device) {
    CALLED("cuDevicePrimaryCtxRetain", true);
    ++one->retained[device]; // the first of a device takes memory, and then nothing is retained
    *out = context_of(device);
    return cuda::success;
}
cuda::Result release(cuda::Device device) {
    --one->retained[device];
    return cuda::success;
}
cuda::Result push(cuda::Context context) {
    one->current.push_back(context);
    return cuda::success;
}
cuda::Result pop(cuda::Context *out) {
    NEEDS_CONTEXT();
    *out = one->current.back();
    one->current.pop_back();
    return cuda::success;
}
cuda::Result set_limit(int, size_t value) {
    CALLED("cuCtxSetLimit");
    one->l2_limit = value;
    return cuda::success;
}
cuda::Result get_limit(size_t *value, int) {
    *value = one->l2_limit;
    return cuda::success;
}
cuda::Result info(size_t *free, size_t *all) {
    NEEDS_CONTEXT();
    if (one->free_unknown) return cuda::not_supported;
    const FakeDevice &of = one->devices.at(static_cast<size_t>(current_device()));
    *all = of.memory;
    *free = of.memory - of.used;
    return cuda::success;
}
cuda::Result alloc(cuda::Pointer *at, size_t bytes) {
    NEEDS_CONTEXT();
    CALLED("cuMemAlloc", true);
    if (const cuda::Result code = take_bytes(current_device(), bytes); code != cuda::success) return code;
    void *const made = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    std::memset(made, 0x77, bytes); // whoever had it before
    return keep_block(at, made, {bytes, current_device()});
}
cuda::Result release_memory(cuda::Pointer at) {
    const auto found = one->blocks.find(at);
    if (found == one->blocks.end()) return cuda::invalid_value;
    one->devices.at(static_cast<size_t>(found->second.home)).used -= found->second.size;
    one->blocks.erase(found);
    std::free(reinterpret_cast<void *>(at));
    return cuda::success;
}
cuda::Result reserve(cuda::Pointer *at, size_t size, size_t alignment, cuda::Pointer, unsigned long long) {
    CALLED("cuMemAddressReserve", true);
    return keep_block(at, std::aligned_alloc(std::max<size_t>(alignment, 2 << 20), size), {size, -1});
}
cuda::Result unreserve(cuda::Pointer at, size_t size) {
    const auto found = one->blocks.find(at);
    if (found == one->blocks.end() || found->second.home >= 0 || found->second.size != size) return cuda::invalid_value;
    one->blocks.erase(found);
    std::free(reinterpret_cast<void *>(at));
    return cuda::success;
}
cuda::Result create(cuda::Handle *handle, size_t size, const cuda::AllocationProp *prop, unsigned long long) {
    CALLED("cuMemCreate", true);
    if (size % (2 << 20) != 0 || prop->type != cuda::allocation_pinned || prop->location.type != cuda::location_device)
        return cuda::invalid_value;
    const cuda::Handle made = one->next_handle++;
    one->handles[made] = {prop->location.id, size};
    const cuda::Result code = take_bytes(prop->location.id, size);
    if (code == cuda::success)
        *handle = made;
    else
        one->handles.erase(made);
    return code;
}
cuda::Result release_handle(cuda::Handle handle) {
    const auto found = one->handles.find(handle);
    if (found == one->handles.end()) return cuda::invalid_value;
    one->devices.at(static_cast<size_t>(found->second.first)).used -= found->second.second;
    one->handles.erase(found);
    return cuda::success;
}
cuda::Result map(cuda::Pointer at, size_t size, size_t, cuda::Handle handle, unsigned long long) {
    CALLED("cuMemMap", true);
    std::memset(reinterpret_cast<void *>(at), 0x77, size);
    one->blocks[at].home = one->handles.at(handle).first;
    return cuda::success;
}
cuda::Result unmap(cuda::Pointer at, size_t) {
    one->blocks.at(at).home = -1;
    return cuda::success;
}
cuda::Result access(cuda::Pointer, size_t, const cuda::AccessDesc *descs, size_t count) {
    CALLED("cuMemSetAccess", true);
    for (size_t i = 0; i < count; ++i)
        if (descs[i].flags != cuda::access_read_write) return cuda::invalid_value;
    return cuda::success;
}
cuda::Result granularity(size_t *bytes, const cuda::AllocationProp *, int) {
    *bytes = 2 << 20;
    return called("cuMemGetAllocationGranularity");
}
cuda::Result host_register(void *at, size_t bytes, unsigned flags) {
    NEEDS_CONTEXT();
    CALLED("cuMemHostRegister", true);
    const auto begin = reinterpret_cast<uint64_t>(at);
    if (flags != (cuda::register_portable | cuda::register_mapped)) return cuda::invalid_value;
    for (const auto &[from, to] : one->registered)
        if (begin < to && from < begin + bytes) return cuda::host_already_registered;
    one->registered[begin] = begin + bytes;
    return cuda::success;
}
cuda::Result host_unregister(void *at) {
    NEEDS_CONTEXT();
    return one->registered.erase(reinterpret_cast<uint64_t>(at)) == 1 ? cuda::success : 713;
}
cuda::Result device_pointer(cuda::Pointer *out, void *host, unsigned) {
    NEEDS_CONTEXT();
    CALLED("cuMemHostGetDevicePointer", true);
    *out = reinterpret_cast<uint64_t>(host);
    for (const auto &[from, to] : one->registered)
        if (*out >= from && *out < to) return cuda::success;
    return cuda::invalid_value;
}
cuda::Result copy(cuda::Pointer dst, cuda::Pointer src, size_t bytes, cuda::Stream) {
    NEEDS_CONTEXT();
    CALLED("cuMemcpyAsync");
    if (one->stale_host && one->registered.contains(src)) {
        std::memset(reinterpret_cast<void *>(dst), 0xee, bytes);
        return cuda::success;
    }
    if (one->drop_peer_copies && crosses(dst, src)) return cuda::success; // and nothing arrives
    std::memcpy(reinterpret_cast<void *>(dst), reinterpret_cast<const void *>(src), bytes);
    return cuda::success;
}
cuda::Result copy_batch(cuda::Pointer *dsts, cuda::Pointer *srcs, size_t *sizes, size_t count,
                        cuda::CopyAttributes *attributes, size_t *indices, size_t attribute_count, size_t *, cuda::Stream) {
    NEEDS_CONTEXT();
    CALLED("cuMemcpyBatchAsync");
    if (attribute_count != 1 || indices[0] != 0 || attributes->source_order != cuda::source_in_stream_order)
        return cuda::invalid_value;
    for (size_t i = 0; i < count; ++i)
        std::memcpy(reinterpret_cast<void *>(dsts[i]), reinterpret_cast<const void *>(srcs[i]), sizes[i]);
    return cuda::success;
}
template <class Value>
cuda::Result fill(cuda::Pointer dst, Value value, size_t count, cuda::Stream) {
    NEEDS_CONTEXT();
    CALLED("cuMemsetAsync", true);
    if (dst % sizeof value != 0) return cuda::invalid_value;
    for (size_t i = 0; i < count; ++i) std::memcpy(reinterpret_cast<char *>(dst) + i * sizeof value, &value, sizeof value);
    return cuda::success;
}
cuda::Result stream_create(cuda::Stream *out, unsigned flags) {
    NEEDS_CONTEXT();
    CALLED("cuStreamCreate", true);
    if (flags != cuda::stream_non_blocking) return cuda::invalid_value;
    *out = reinterpret_cast<cuda::Stream>(uintptr_t{64});
    ++one->live_streams;
    return cuda::success;
}
cuda::Result stream_destroy(cuda::Stream) {
    --one->live_streams;
    return cuda::success;
}
cuda::Result stream_ask(cuda::Stream) {
    NEEDS_CONTEXT();
    return called("cuStreamQuery");
}
cuda::Result stream_wait(cuda::Stream, cuda::Event, unsigned) {
    NEEDS_CONTEXT();
    return called("cuStreamWaitEvent");
}
cuda::Result stream_attribute(cuda::Stream, int which, const cuda::StreamAttribute *value) {
    if (which != cuda::stream_attribute_window) return cuda::invalid_value;
    CALLED("cuStreamSetAttribute");
    one->window = value->window;
    return cuda::success;
}
cuda::Result event_create(cuda::Event *out, unsigned flags) {
    NEEDS_CONTEXT();
    CALLED("cuEventCreate", true);
    if (flags != cuda::event_disable_timing) return cuda::invalid_value;
    *out = reinterpret_cast<cuda::Event>(uintptr_t{128});
    ++one->live_events;
    return cuda::success;
}
cuda::Result event_destroy(cuda::Event) {
    --one->live_events;
    return cuda::success;
}
cuda::Result event_record(cuda::Event, cuda::Stream) {
    NEEDS_CONTEXT();
    return called("cuEventRecord");
}
cuda::Result event_query(cuda::Event) {
    return called("cuEventQuery");
}
cuda::Result launch(cuda::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                    unsigned, cuda::Stream, void **parameters, void **) {
    NEEDS_CONTEXT();
    CALLED("cuLaunchKernel");
    const auto &kernel = *reinterpret_cast<const kernels::device::Kernel *>(function);
    std::vector<kernels::device::TwinBuffer> buffers;
    bool across = false;
    for (uint32_t i = 0; i < kernel.buffer_count; ++i) {
        const uint64_t at = *static_cast<uint64_t *>(parameters[size_t{2} * i]);
        across |= crosses(at, at) && (kernel.access[i] & HBF_KERNEL_WRITES) != 0;
        buffers.push_back({reinterpret_cast<void *>(at + *static_cast<uint64_t *>(parameters[size_t{2} * i + 1])), 0});
    }
    if (across && one->drop_peer_stores) return cuda::success;
    const uint32_t groups[] = {gx, gy, gz}, size[] = {bx, by, bz};
    kernels::device::run(kernel, buffers.data(), parameters[size_t{2} * kernel.buffer_count], groups, size);
    return cuda::success;
}
cuda::Result module_load(cuda::Module *, const void *) {
    CALLED("cuModuleLoadData", true);
    return cuda::invalid_image;
}
cuda::Result module_unload(cuda::Module) {
    return cuda::success;
}
cuda::Result module_function(cuda::Function *, cuda::Module, const char *) {
    return cuda::not_found;
}
cuda::Result function_attribute(int *, int, cuda::Function) {
    return cuda::invalid_value;
}
cuda::Result reset_l2() {
    return called("cuCtxResetPersistingL2Cache");
}

// As C has it: no exception leaves; a fake that has no memory for its books says what a driver would.
template <auto function>
struct CFunction;
template <class... Arguments, cuda::Result (*function)(Arguments...)>
struct CFunction<function> {
    static cuda::Result call(Arguments... arguments) {
        try {
            return function(arguments...);
        } catch (const std::bad_alloc &) {
            return cuda::out_of_memory;
        }
    }
};
template <auto function>
constexpr auto c_function = &CFunction<function>::call;

} // namespace

Fake &fake() {
    return *one;
}

void new_fake() {
    one = std::make_unique<Fake>();
    one->current.reserve(64); // what gives back allocates nothing
}

std::string Fake::left() {
    std::string out;
    const auto note = [&](bool is, const char *what) {
        if (is) out += std::string(what) + " ";
    };
    note(!blocks.empty(), "memory");
    note(!handles.empty(), "handles");
    note(!registered.empty(), "registrations");
    for (const auto &[device, count] : retained) note(count != 0, "contexts");
    note(!current.empty(), "a current context");
    note(live_streams != 0, "streams");
    note(live_events != 0, "events");
    return out;
}

Driver fake_driver() {
    Driver out;
    out.version = 12080;
    out.Init = c_function<init>;
    out.GetErrorName = c_function<error_name>;
    out.GetErrorString = c_function<error_string>;
    out.DeviceGetCount = c_function<count>;
    out.DeviceGet = c_function<get>;
    out.DeviceGetName = c_function<name>;
    out.DeviceGetUuid = c_function<uuid>;
    out.DeviceTotalMem = c_function<total>;
    out.DeviceGetAttribute = c_function<attribute_of>;
    out.DeviceGetPCIBusId = c_function<pci>;
    out.DeviceCanAccessPeer = c_function<can_access>;
    out.DevicePrimaryCtxRetain = c_function<retain>;
    out.DevicePrimaryCtxRelease = c_function<release>;
    out.CtxPushCurrent = c_function<push>;
    out.CtxPopCurrent = c_function<pop>;
    out.CtxSetLimit = c_function<set_limit>;
    out.CtxGetLimit = c_function<get_limit>;
    out.MemGetInfo = c_function<info>;
    out.MemAlloc = c_function<alloc>;
    out.MemFree = c_function<release_memory>;
    out.MemAddressReserve = c_function<reserve>;
    out.MemAddressFree = c_function<unreserve>;
    out.MemCreate = c_function<create>;
    out.MemRelease = c_function<release_handle>;
    out.MemMap = c_function<map>;
    out.MemUnmap = c_function<unmap>;
    out.MemSetAccess = c_function<access>;
    out.MemGetAllocationGranularity = c_function<granularity>;
    out.MemHostRegister = c_function<host_register>;
    out.MemHostUnregister = c_function<host_unregister>;
    out.MemHostGetDevicePointer = c_function<device_pointer>;
    out.MemcpyAsync = c_function<copy>;
    out.MemsetD8Async = c_function<fill<unsigned char>>;
    out.MemsetD16Async = c_function<fill<unsigned short>>;
    out.MemsetD32Async = c_function<fill<unsigned>>;
    out.StreamCreate = c_function<stream_create>;
    out.StreamDestroy = c_function<stream_destroy>;
    out.StreamQuery = c_function<stream_ask>;
    out.StreamSynchronize = c_function<stream_ask>;
    out.StreamWaitEvent = c_function<stream_wait>;
    out.EventCreate = c_function<event_create>;
    out.EventRecord = c_function<event_record>;
    out.EventQuery = c_function<event_query>;
    out.EventDestroy = c_function<event_destroy>;
    out.ModuleLoadData = c_function<module_load>;
    out.ModuleUnload = c_function<module_unload>;
    out.ModuleGetFunction = c_function<module_function>;
    out.FuncGetAttribute = c_function<function_attribute>;
    out.LaunchKernel = c_function<launch>;
    out.MemcpyBatchAsync = c_function<copy_batch>;
    out.StreamSetAttribute = c_function<stream_attribute>;
    out.CtxResetPersistingL2Cache = c_function<reset_l2>;
    return out;
}

} // namespace hbf::nvidia
