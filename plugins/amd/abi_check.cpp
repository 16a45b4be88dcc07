// SPDX-License-Identifier: Apache-2.0
// Compares what api.hpp declares with the vendor's headers. Compiled where they are; nothing of it is linked.
#include <cstdint>

#define __HIP_DISABLE_CPP_FUNCTIONS__ // templates beside the functions of C

#include <hip/hip_runtime_api.h>
#if HBF_HAVE_HIPRTC_HEADER
#include <hip/hiprtc.h>
#endif
#if HBF_HAVE_SMI_HEADER
#include <rocm_smi/rocm_smi.h>
#endif

#include "plugins/amd/api.hpp"
#include "plugins/stream/same_abi.hpp"

namespace hbf::amd {
namespace {

using stream::same_abi;

#define HBF_SAME(name, ...)                                                                                                 \
    static_assert(same_abi<__VA_ARGS__, decltype(::hip##name)>, "hip" #name " is declared otherwise by HIP");
#define HBF_CHECKED_FUNCTIONS(X)                                                                                            \
    HBF_HIP_FUNCTIONS(X)                                                                                                    \
    X(DeviceDisablePeerAccess, Code(int))                                                                                   \
    X(MemRangeGetAttribute, Code(void *, size_t, int, const void *, size_t))                                                \
    X(ExtGetLinkTypeAndHopCount, Code(int, int, uint32_t *, uint32_t *))
HBF_CHECKED_FUNCTIONS(HBF_SAME)
#undef HBF_SAME
// A macro gives this name another function behind it from HIP 6 on; the parameters are the same.
static_assert(same_abi<Code(void *, int), decltype(::hipGetDeviceProperties)>);

#define HBF_SAME(ours, theirs) static_assert(static_cast<long long>(ours) == static_cast<long long>(theirs), #theirs);
HBF_SAME(code::success, hipSuccess)
HBF_SAME(code::invalid_value, hipErrorInvalidValue)
HBF_SAME(code::out_of_memory, hipErrorOutOfMemory)
HBF_SAME(code::not_initialized, hipErrorNotInitialized)
HBF_SAME(code::deinitialized, hipErrorDeinitialized)
HBF_SAME(code::insufficient_driver, hipErrorInsufficientDriver)
HBF_SAME(code::no_device, hipErrorNoDevice)
HBF_SAME(code::invalid_device, hipErrorInvalidDevice)
HBF_SAME(code::invalid_image, hipErrorInvalidImage)
HBF_SAME(code::no_binary_for_gpu, hipErrorNoBinaryForGpu)
HBF_SAME(code::ecc_uncorrectable, hipErrorECCNotCorrectable)
HBF_SAME(code::peer_access_unsupported, hipErrorPeerAccessUnsupported)
HBF_SAME(code::shared_object_init_failed, hipErrorSharedObjectInitFailed)
HBF_SAME(code::invalid_handle, hipErrorInvalidHandle)
HBF_SAME(code::not_found, hipErrorNotFound)
HBF_SAME(code::not_ready, hipErrorNotReady)
HBF_SAME(code::illegal_address, hipErrorIllegalAddress)
HBF_SAME(code::launch_out_of_resources, hipErrorLaunchOutOfResources)
HBF_SAME(code::launch_timeout, hipErrorLaunchTimeOut)
HBF_SAME(code::peer_already_enabled, hipErrorPeerAccessAlreadyEnabled)
HBF_SAME(code::context_destroyed, hipErrorContextIsDestroyed)
HBF_SAME(code::assertion, hipErrorAssert)
HBF_SAME(code::already_registered, hipErrorHostMemoryAlreadyRegistered)
HBF_SAME(code::not_registered, hipErrorHostMemoryNotRegistered)
HBF_SAME(code::launch_failure, hipErrorLaunchFailure)
HBF_SAME(code::not_supported, hipErrorNotSupported)
HBF_SAME(code::unknown, hipErrorUnknown)
HBF_SAME(code::runtime_memory, hipErrorRuntimeMemory)
HBF_SAME(code::runtime_other, hipErrorRuntimeOther)

HBF_SAME(attribute::ecc_enabled, hipDeviceAttributeEccEnabled)
HBF_SAME(attribute::concurrent_managed_access, hipDeviceAttributeConcurrentManagedAccess)
HBF_SAME(attribute::integrated, hipDeviceAttributeIntegrated)
HBF_SAME(attribute::l2_cache_size, hipDeviceAttributeL2CacheSize)
HBF_SAME(attribute::max_block_x, hipDeviceAttributeMaxBlockDimX)
HBF_SAME(attribute::max_block_y, hipDeviceAttributeMaxBlockDimY)
HBF_SAME(attribute::max_block_z, hipDeviceAttributeMaxBlockDimZ)
HBF_SAME(attribute::max_grid_x, hipDeviceAttributeMaxGridDimX)
HBF_SAME(attribute::max_grid_y, hipDeviceAttributeMaxGridDimY)
HBF_SAME(attribute::max_grid_z, hipDeviceAttributeMaxGridDimZ)
HBF_SAME(attribute::compute_units, hipDeviceAttributeMultiprocessorCount)
HBF_SAME(attribute::pageable_memory_access, hipDeviceAttributePageableMemoryAccess)
HBF_SAME(attribute::host_page_tables, hipDeviceAttributePageableMemoryAccessUsesHostPageTables)
HBF_SAME(attribute::shared_memory, hipDeviceAttributeMaxSharedMemoryPerBlock)
HBF_SAME(attribute::hdp_flush, hipDeviceAttributeHdpMemFlushCntl)
HBF_SAME(attribute::large_bar, hipDeviceAttributeIsLargeBar)

HBF_SAME(flag::malloc_default, hipDeviceMallocDefault)
HBF_SAME(flag::malloc_fine, hipDeviceMallocFinegrained)
#ifdef hipDeviceMallocUncached // not yet in 5.2
HBF_SAME(flag::malloc_uncached, hipDeviceMallocUncached)
#endif
HBF_SAME(flag::host_portable, hipHostMallocPortable)
HBF_SAME(flag::host_mapped, hipHostMallocMapped)
HBF_SAME(flag::host_coherent, static_cast<unsigned>(hipHostMallocCoherent))
HBF_SAME(flag::host_non_coherent, static_cast<unsigned>(hipHostMallocNonCoherent))
HBF_SAME(flag::register_portable, hipHostRegisterPortable)
HBF_SAME(flag::register_mapped, hipHostRegisterMapped)
HBF_SAME(flag::stream_non_blocking, hipStreamNonBlocking)
HBF_SAME(flag::event_disable_timing, hipEventDisableTiming)
HBF_SAME(flag::event_release_to_system, static_cast<unsigned>(hipEventReleaseToSystem))
HBF_SAME(flag::memcpy_default, hipMemcpyDefault)
HBF_SAME(flag::range_coherency_mode, hipMemRangeAttributeCoherencyMode)
HBF_SAME(flag::mode_fine, hipMemRangeCoherencyModeFineGrain)
HBF_SAME(flag::mode_coarse, hipMemRangeCoherencyModeCoarseGrain)
HBF_SAME(flag::mode_indeterminate, hipMemRangeCoherencyModeIndeterminate)
HBF_SAME(flag::function_max_threads, HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)

#if HBF_HAVE_HIPRTC_HEADER
#define HBF_SAME_RTC(name, ...) static_assert(same_abi<__VA_ARGS__, decltype(::hiprtc##name)>, "hiprtc" #name);
HBF_HIPRTC_FUNCTIONS(HBF_SAME_RTC)
HBF_SAME(0, HIPRTC_SUCCESS)
#endif

#if HBF_HAVE_SMI_HEADER
#define HBF_SAME_SMI(name, ...) static_assert(same_abi<__VA_ARGS__, decltype(::rsmi_##name)>, "rsmi_" #name);
#define HBF_CHECKED_SMI(X)                                                                                                  \
    HBF_SMI_FUNCTIONS(X)                                                                                                    \
    X(dev_ecc_enabled_get, int(uint32_t, uint64_t *))                                                                       \
    X(dev_ecc_count_get, int(uint32_t, uint64_t, void *))                                                                   \
    X(dev_pci_replay_counter_get, int(uint32_t, uint64_t *))                                                                \
    X(dev_xgmi_error_status, int(uint32_t, uint32_t *))                                                                     \
    X(dev_memory_reserved_pages_get, int(uint32_t, uint32_t *, void *))                                                     \
    X(dev_memory_usage_get, int(uint32_t, uint32_t, uint64_t *))                                                            \
    X(dev_temp_metric_get, int(uint32_t, uint32_t, uint32_t, int64_t *))                                                    \
    X(dev_power_ave_get, int(uint32_t, uint32_t, uint64_t *))
HBF_CHECKED_SMI(HBF_SAME_SMI)
HBF_SAME(0, RSMI_STATUS_SUCCESS)
HBF_SAME(1, RSMI_GPU_BLOCK_UMC)
HBF_SAME(0x80, RSMI_GPU_BLOCK_XGMI_WAFL)
HBF_SAME(0x100, RSMI_GPU_BLOCK_DF)
HBF_SAME(1, RSMI_TEMP_TYPE_JUNCTION)
HBF_SAME(2, RSMI_TEMP_TYPE_MEMORY)
HBF_SAME(0, RSMI_TEMP_CURRENT)
HBF_SAME(0, RSMI_MEM_TYPE_VRAM)
static_assert(sizeof(rsmi_error_count_t) <= sizeof(ErrorCount));
static_assert(offsetof(rsmi_error_count_t, correctable_err) == offsetof(ErrorCount, correctable));
static_assert(offsetof(rsmi_error_count_t, uncorrectable_err) == offsetof(ErrorCount, uncorrectable));
#endif

} // namespace
} // namespace hbf::amd
