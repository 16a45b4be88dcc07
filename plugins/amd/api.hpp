// SPDX-License-Identifier: Apache-2.0
// HIP, hipRTC and ROCm SMI as far as this plugin uses them: our own declarations, so that no vendor header is needed to
// build it. abi_check.cpp compares them with the vendor's where there are some.
//
// HIP 5.2 to 7 have all of it alike. What changed between them is not used: hipDeviceProp_t (792 bytes in 5.x, 1,472 in 6.x,
// under one name and two symbols), hipPointerAttribute_t (memory type 1 is the device's in 5.x, the host's in 6.x).
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace hbf::amd {

using Code = int; // hipError_t; 0 is success
using Stream = struct StreamHandle *;
using HipEvent = struct EventHandle *;
using Module = struct ModuleHandle *;
using Function = struct FunctionHandle *;
using Program = struct ProgramHandle *; // hiprtcProgram

namespace code {
inline constexpr Code success = 0, invalid_value = 1, out_of_memory = 2, not_initialized = 3, deinitialized = 4,
                      insufficient_driver = 35, no_device = 100, invalid_device = 101, invalid_image = 200,
                      no_binary_for_gpu = 209, ecc_uncorrectable = 214, peer_access_unsupported = 217,
                      shared_object_init_failed = 303, invalid_handle = 400, not_found = 500, not_ready = 600,
                      illegal_address = 700, launch_out_of_resources = 701, launch_timeout = 702, peer_already_enabled = 704,
                      context_destroyed = 709, assertion = 710, already_registered = 712, not_registered = 713,
                      launch_failure = 719, not_permitted = 800, not_supported = 801, unknown = 999, runtime_memory = 1052,
                      runtime_other = 1053;
} // namespace code

// hipDeviceAttribute_t: the same numbers from 5.2 on.
namespace attribute {
inline constexpr int ecc_enabled = 0, concurrent_managed_access = 9, integrated = 16, l2_cache_size = 19, max_block_x = 26,
                     max_block_y = 27, max_block_z = 28, max_grid_x = 29, max_grid_y = 30, max_grid_z = 31,
                     compute_units = 63, pageable_memory_access = 65, host_page_tables = 66, shared_memory = 74,
                     hdp_flush = 10005, large_bar = 10011;
} // namespace attribute

namespace flag {
inline constexpr unsigned malloc_default = 0, malloc_fine = 1, malloc_uncached = 3; // hipExtMallocWithFlags
inline constexpr unsigned host_portable = 1, host_mapped = 2, host_coherent = 0x40000000, host_non_coherent = 0x80000000;
inline constexpr unsigned register_portable = 1, register_mapped = 2;
inline constexpr unsigned stream_non_blocking = 1;
inline constexpr unsigned event_disable_timing = 2, event_release_to_system = 0x80000000;
inline constexpr int memcpy_default = 4; // hipMemcpyKind: the runtime looks at the addresses
inline constexpr int range_coherency_mode = 100, mode_fine = 0, mode_coarse = 1, mode_indeterminate = 2;
inline constexpr int function_max_threads = 0;          // hipFunction_attribute
inline constexpr uint32_t link_pcie = 2, link_xgmi = 4; // hsa_amd_link_info_type_t
} // namespace flag

// X(name without "hip", type): without one of these there is no HIP of 5.2 or newer.
#define HBF_HIP_FUNCTIONS(X)                                                                                                \
    X(Init, Code(unsigned))                                                                                                 \
    X(DriverGetVersion, Code(int *))                                                                                        \
    X(RuntimeGetVersion, Code(int *))                                                                                       \
    X(GetDeviceCount, Code(int *))                                                                                          \
    X(SetDevice, Code(int))                                                                                                 \
    X(GetDevice, Code(int *))                                                                                               \
    X(DeviceGetAttribute, Code(int *, int, int))                                                                            \
    X(DeviceGetName, Code(char *, int, int))                                                                                \
    X(DeviceGetPCIBusId, Code(char *, int, int))                                                                            \
    X(MemGetInfo, Code(size_t *, size_t *))                                                                                 \
    X(Malloc, Code(void **, size_t))                                                                                        \
    X(ExtMallocWithFlags, Code(void **, size_t, unsigned))                                                                  \
    X(Free, Code(void *))                                                                                                   \
    X(HostMalloc, Code(void **, size_t, unsigned))                                                                          \
    X(HostFree, Code(void *))                                                                                               \
    X(HostRegister, Code(void *, size_t, unsigned))                                                                         \
    X(HostUnregister, Code(void *))                                                                                         \
    X(HostGetDevicePointer, Code(void **, void *, unsigned))                                                                \
    X(MemcpyAsync, Code(void *, const void *, size_t, int, Stream))                                                         \
    X(MemsetAsync, Code(void *, int, size_t, Stream))                                                                       \
    X(MemsetD16Async, Code(void *, unsigned short, size_t, Stream))                                                         \
    X(MemsetD32Async, Code(void *, int, size_t, Stream))                                                                    \
    X(StreamCreateWithFlags, Code(Stream *, unsigned))                                                                      \
    X(StreamDestroy, Code(Stream))                                                                                          \
    X(StreamQuery, Code(Stream))                                                                                            \
    X(StreamSynchronize, Code(Stream))                                                                                      \
    X(StreamWaitEvent, Code(Stream, HipEvent, unsigned))                                                                    \
    X(EventCreateWithFlags, Code(HipEvent *, unsigned))                                                                     \
    X(EventRecord, Code(HipEvent, Stream))                                                                                  \
    X(EventQuery, Code(HipEvent))                                                                                           \
    X(EventDestroy, Code(HipEvent))                                                                                         \
    X(DeviceCanAccessPeer, Code(int *, int, int))                                                                           \
    X(DeviceEnablePeerAccess, Code(int, unsigned))                                                                          \
    X(ModuleLoadData, Code(Module *, const void *))                                                                         \
    X(ModuleUnload, Code(Module))                                                                                           \
    X(ModuleGetFunction, Code(Function *, Module, const char *))                                                            \
    X(ModuleLaunchKernel,                                                                                                   \
      Code(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream, void **, void **))       \
    X(FuncGetAttribute, Code(int *, int, Function))                                                                         \
    X(GetErrorName, const char *(Code))                                                                                     \
    X(GetLastError, Code())

// The same, where the runtime has them. The first two give a struct whose layout is not ours to know:
// kernels/architecture.cpp.
#define HBF_HIP_OPTIONAL_FUNCTIONS(X)                                                                                       \
    X(GetDevicePropertiesR0600, Code(void *, int))                                                                          \
    X(GetDeviceProperties, Code(void *, int))                                                                               \
    X(MemRangeGetAttribute, Code(void *, size_t, int, const void *, size_t))                                                \
    X(DeviceDisablePeerAccess, Code(int))                                                                                   \
    X(ExtGetLinkTypeAndHopCount, Code(int, int, uint32_t *, uint32_t *))

// hipRTC, X(name without "hiprtc", type). Its codes are its own; 0 is success.
#define HBF_HIPRTC_FUNCTIONS(X)                                                                                             \
    X(CreateProgram, int(Program *, const char *, const char *, int, const char **, const char **))                         \
    X(CompileProgram, int(Program, int, const char **))                                                                     \
    X(DestroyProgram, int(Program *))                                                                                       \
    X(GetCodeSize, int(Program, size_t *))                                                                                  \
    X(GetCode, int(Program, char *))                                                                                        \
    X(GetProgramLogSize, int(Program, size_t *))                                                                            \
    X(GetProgramLog, int(Program, char *))                                                                                  \
    X(GetErrorString, const char *(int))

// ROCm SMI, X(name without "rsmi_", type). Its codes are its own; 0 is success.
#define HBF_SMI_FUNCTIONS(X)                                                                                                \
    X(init, int(uint64_t))                                                                                                  \
    X(num_monitor_devices, int(uint32_t *))                                                                                 \
    X(dev_pci_id_get, int(uint32_t, uint64_t *))

#define HBF_SMI_OPTIONAL_FUNCTIONS(X)                                                                                       \
    X(dev_ecc_enabled_get, int(uint32_t, uint64_t *))                                                                       \
    X(dev_ecc_count_get, int(uint32_t, uint64_t, void *))                                                                   \
    X(dev_pci_replay_counter_get, int(uint32_t, uint64_t *))                                                                \
    X(dev_xgmi_error_status, int(uint32_t, uint32_t *))                                                                     \
    X(dev_memory_reserved_pages_get, int(uint32_t, uint32_t *, void *))                                                     \
    X(dev_memory_usage_get, int(uint32_t, uint32_t, uint64_t *))                                                            \
    X(dev_temp_metric_get, int(uint32_t, uint32_t, uint32_t, int64_t *))                                                    \
    X(dev_power_ave_get, int(uint32_t, uint32_t, uint64_t *))                                                               \
    X(dev_memory_partition_get, int(uint32_t, char *, uint32_t))                                                            \
    X(dev_compute_partition_get, int(uint32_t, char *, uint32_t))

// rsmi_error_count_t. Later versions have more behind it, so what is passed is larger: `reserved` is for them.
struct ErrorCount {
    uint64_t correctable, uncorrectable;
    uint64_t reserved[14];
};

#define HBF_AMD_MEMBER(name, ...) std::type_identity_t<__VA_ARGS__> *name = nullptr;

} // namespace hbf::amd
