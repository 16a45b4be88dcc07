// SPDX-License-Identifier: Apache-2.0
// Compiled where cuda.h is: every prototype, size and number that this plugin declares, against NVIDIA's own. Names of types
// differ, so parameters are compared by how they are passed.
#include <cstddef>
#include <type_traits>

#include <cuda.h>
#include <cudaTypedefs.h>

#include "plugins/nvidia/library.hpp"

namespace {

namespace own = hbf::nvidia::cuda;

template <class A, class B>
constexpr bool alike =
    sizeof(A) == sizeof(B) && alignof(A) == alignof(B) && std::is_pointer_v<A> == std::is_pointer_v<B> &&
    std::is_class_v<A> == std::is_class_v<B> && std::is_floating_point_v<A> == std::is_floating_point_v<B>;
// What pointers point to, as far as it is known.
template <class A>
constexpr bool known = requires { sizeof(A); };
template <class A, class B>
    requires(known<A> && known<B> && !std::is_function_v<A> && !std::is_function_v<B> && !std::is_void_v<A>)
constexpr bool alike<A *, B *> = sizeof(A) == sizeof(B) && std::is_const_v<A> == std::is_const_v<B>;

template <class A, class B>
constexpr bool same = false;
template <class A, class B, class... As, class... Bs>
    requires(sizeof...(As) == sizeof...(Bs))
constexpr bool same<A (*)(As...), B (*)(Bs...)> = alike<A, B> && (alike<As, Bs> && ...);

#define CHECK(name, since, parameters)                                                                                      \
    static_assert(same<decltype(own::Driver::name), PFN_cu##name##_v##since>, "cu" #name " is not as cudaTypedefs.h has "   \
                                                                              "it");
HBF_CUDA_FUNCTIONS(CHECK)
HBF_CUDA_OPTIONAL_FUNCTIONS(CHECK)
#undef CHECK
static_assert(same<own::DriverGetVersion, PFN_cuDriverGetVersion_v2020>);
static_assert(same<own::GetProcAddress, PFN_cuGetProcAddress_v12000>);

#define LAYOUT(mine, theirs) static_assert(sizeof(own::mine) == sizeof(theirs) && alignof(own::mine) == alignof(theirs))
#define PLACE(mine, a, theirs, b) static_assert(offsetof(own::mine, a) == offsetof(theirs, b))
LAYOUT(Uuid, CUuuid);
LAYOUT(Location, CUmemLocation);
LAYOUT(AllocationProp, CUmemAllocationProp);
LAYOUT(AccessDesc, CUmemAccessDesc);
LAYOUT(CopyAttributes, CUmemcpyAttributes);
LAYOUT(AccessWindow, CUaccessPolicyWindow);
LAYOUT(StreamAttribute, CUstreamAttrValue);
PLACE(AllocationProp, location, CUmemAllocationProp, location);
PLACE(AllocationProp, flags, CUmemAllocationProp, allocFlags);
PLACE(AccessDesc, flags, CUmemAccessDesc, flags);
PLACE(CopyAttributes, source_hint, CUmemcpyAttributes, srcLocHint);
PLACE(CopyAttributes, flags, CUmemcpyAttributes, flags);
PLACE(AccessWindow, bytes, CUaccessPolicyWindow, num_bytes);
PLACE(AccessWindow, hit_ratio, CUaccessPolicyWindow, hitRatio);
PLACE(AccessWindow, hit, CUaccessPolicyWindow, hitProp);
PLACE(AccessWindow, miss, CUaccessPolicyWindow, missProp);
PLACE(StreamAttribute, window, CUstreamAttrValue, accessPolicyWindow);

#define NUMBER(mine, theirs) static_assert(static_cast<long long>(own::mine) == static_cast<long long>(theirs), #theirs)
NUMBER(location_device, CU_MEM_LOCATION_TYPE_DEVICE);
NUMBER(allocation_pinned, CU_MEM_ALLOCATION_TYPE_PINNED);
NUMBER(access_read_write, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
NUMBER(source_in_stream_order, CU_MEMCPY_SRC_ACCESS_ORDER_STREAM);
NUMBER(stream_attribute_window, CU_STREAM_ATTRIBUTE_ACCESS_POLICY_WINDOW);
NUMBER(property_normal, CU_ACCESS_PROPERTY_NORMAL);
NUMBER(property_streaming, CU_ACCESS_PROPERTY_STREAMING);
NUMBER(property_persisting, CU_ACCESS_PROPERTY_PERSISTING);
NUMBER(limit_persisting_l2, CU_LIMIT_PERSISTING_L2_CACHE_SIZE);
NUMBER(stream_non_blocking, CU_STREAM_NON_BLOCKING);
NUMBER(event_disable_timing, CU_EVENT_DISABLE_TIMING);
NUMBER(register_portable, CU_MEMHOSTREGISTER_PORTABLE);
NUMBER(register_mapped, CU_MEMHOSTREGISTER_DEVICEMAP);
NUMBER(granularity_minimum, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
NUMBER(max_block_x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
NUMBER(max_block_z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
NUMBER(max_grid_x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
NUMBER(max_grid_z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
NUMBER(shared_per_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
NUMBER(multiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
NUMBER(compute_mode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
NUMBER(bus_width, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
NUMBER(l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
NUMBER(copy_engines, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
NUMBER(unified_addressing, CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
NUMBER(major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
NUMBER(minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
NUMBER(host_native_atomics, CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED);
NUMBER(pageable_access, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS);
NUMBER(host_register, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
NUMBER(host_page_tables, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES);
NUMBER(virtual_memory, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
NUMBER(max_persisting_l2, CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE);
NUMBER(max_window, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE);
NUMBER(mps, CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
NUMBER(host_numa_id, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
NUMBER(max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
NUMBER(success, CUDA_SUCCESS);
NUMBER(invalid_value, CUDA_ERROR_INVALID_VALUE);
NUMBER(out_of_memory, CUDA_ERROR_OUT_OF_MEMORY);
NUMBER(not_initialized, CUDA_ERROR_NOT_INITIALIZED);
NUMBER(deinitialized, CUDA_ERROR_DEINITIALIZED);
NUMBER(stub_library, CUDA_ERROR_STUB_LIBRARY);
NUMBER(device_unavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
NUMBER(no_device, CUDA_ERROR_NO_DEVICE);
NUMBER(invalid_device, CUDA_ERROR_INVALID_DEVICE);
NUMBER(device_not_licensed, CUDA_ERROR_DEVICE_NOT_LICENSED);
NUMBER(invalid_image, CUDA_ERROR_INVALID_IMAGE);
NUMBER(no_binary, CUDA_ERROR_NO_BINARY_FOR_GPU);
NUMBER(ecc_uncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
NUMBER(invalid_ptx, CUDA_ERROR_INVALID_PTX);
NUMBER(nvlink_uncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
NUMBER(unsupported_ptx, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
NUMBER(contained, CUDA_ERROR_CONTAINED);
NUMBER(not_found, CUDA_ERROR_NOT_FOUND);
NUMBER(not_ready, CUDA_ERROR_NOT_READY);
NUMBER(illegal_address, CUDA_ERROR_ILLEGAL_ADDRESS);
NUMBER(launch_out_of_resources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
NUMBER(launch_timeout, CUDA_ERROR_LAUNCH_TIMEOUT);
NUMBER(context_destroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
NUMBER(host_already_registered, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
NUMBER(launch_failed, CUDA_ERROR_LAUNCH_FAILED);
NUMBER(not_permitted, CUDA_ERROR_NOT_PERMITTED);
NUMBER(not_supported, CUDA_ERROR_NOT_SUPPORTED);
NUMBER(system_not_ready, CUDA_ERROR_SYSTEM_NOT_READY);
NUMBER(driver_mismatch, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
NUMBER(compat_unsupported, CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
NUMBER(mps_failed, CUDA_ERROR_MPS_CONNECTION_FAILED);
NUMBER(mps_rpc, CUDA_ERROR_MPS_RPC_FAILURE);
NUMBER(mps_not_ready, CUDA_ERROR_MPS_SERVER_NOT_READY);
NUMBER(mps_clients, CUDA_ERROR_MPS_MAX_CLIENTS_REACHED);
NUMBER(mps_connections, CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED);
NUMBER(mps_terminated, CUDA_ERROR_MPS_CLIENT_TERMINATED);
NUMBER(operating_system, CUDA_ERROR_OPERATING_SYSTEM);
NUMBER(unknown, CUDA_ERROR_UNKNOWN);

} // namespace
