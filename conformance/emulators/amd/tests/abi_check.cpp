// SPDX-License-Identifier: Apache-2.0
// Compiled where AMD's headers are: what the emulated libraries declare of HIP, hipRTC and ROCm SMI against the vendor's
// own, of release 5 (names that came later are not in it). Only what both have under one name is compared.
#include <cstddef>
#include <type_traits>

#include "conformance/emulators/amd/hip/api.hpp"
#include "conformance/emulators/amd/smi/api.hpp"
#include "plugins/stream/same_abi.hpp"

namespace own = hbf::emulated::hip;

// Macros there: what comes after the header can no longer name ours.
#define HBF_FLAGS                                                                                                           \
    OF(hipStreamNonBlocking), OF(hipEventBlockingSync), OF(hipEventDisableTiming), OF(hipEventInterprocess),                \
        OF(hipEventReleaseToDevice), OF(hipEventReleaseToSystem), OF(hipHostMallocPortable), OF(hipHostMallocMapped),       \
        OF(hipHostMallocWriteCombined), OF(hipHostMallocNumaUser), OF(hipHostMallocCoherent), OF(hipHostMallocNonCoherent), \
        OF(hipHostRegisterPortable), OF(hipHostRegisterMapped), OF(hipHostRegisterIoMemory), OF(hipDeviceMallocDefault),    \
        OF(hipDeviceMallocFinegrained), OF(hipMallocSignalMemory), OF(hipMemAttachGlobal), OF(hipMemAttachHost)
#define OF(flag) own::flag
constexpr unsigned int our_flags[] = {HBF_FLAGS};
#undef OF

#define __HIP_PLATFORM_AMD__ 1
#define __HIP_DISABLE_CPP_FUNCTIONS__ // templates beside the functions of C
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>
#if HBF_HAVE_SMI_HEADER
#include <rocm_smi/rocm_smi.h>
#endif

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // older names are compared as well

static_assert(HIP_VERSION_MAJOR == 5, "this compares with a header of ROCm 5");
#define OF(flag) static_cast<unsigned int>(flag)
constexpr unsigned int their_flags[] = {HBF_FLAGS};
#undef OF

// Overloaded in the header whatever one says: of the two the form of C is ours.
constexpr auto malloc_async = static_cast<hipError_t (*)(void **, size_t, hipStream_t)>(&hipMallocAsync);
extern std::remove_pointer_t<std::remove_const_t<decltype(malloc_async)>> malloc_async_of_c;
#define hipMallocAsync malloc_async_of_c

namespace hbf::emulated::hip::types { // of functions.inc
#define F(release, name, parameters) using name = hipError_t parameters;
#define R(release, name, parameters) using name = hiprtcResult parameters;
#define S(release, name, result, parameters) using name = result parameters;
#include "conformance/emulators/amd/hip/functions.inc"
#include "conformance/emulators/amd/hip/rtc_functions.inc"
#undef F
#undef R
#undef S
} // namespace hbf::emulated::hip::types
namespace hbf::emulated::smi::types {
#define F(release, name, parameters) using name = rsmi_status_t parameters;
#include "conformance/emulators/amd/smi/functions.inc"
#undef F
} // namespace hbf::emulated::smi::types

namespace {

// A name that came after 5.2 is found here, and is not compared; one of the header hides it.
struct Later {};
namespace later {
[[maybe_unused]] constexpr Later hipExtGetLastError, hipGetProcAddress, hipGetDevicePropertiesR0600, hipExtHostAlloc;
}
using namespace later;

template <class Ours, class Theirs>
constexpr bool fits = std::is_same_v<std::remove_cv_t<Theirs>, Later> || hbf::stream::same_abi<Ours, Theirs>;

#define SAME(name) static_assert(fits<own::types::name, decltype(name)>, #name " is not as the header has it");
#define F(release, name, parameters) SAME(name)
#define R(release, name, parameters) SAME(name)
#define S(release, name, result, parameters) SAME(name)
#include "conformance/emulators/amd/hip/functions.inc"
#include "conformance/emulators/amd/hip/rtc_functions.inc"
#undef F
#undef R
#undef S

#define X(name, value, text) static_assert(value == int{::name}, #name);
HBF_HIP_CODES(X)
#undef X

#define NUMBER(ours, theirs) static_assert(static_cast<long long>(own::ours) == static_cast<long long>(theirs), #theirs);
NUMBER(ECC_ENABLED, hipDeviceAttributeEccEnabled)
NUMBER(ASYNC_ENGINE_COUNT, hipDeviceAttributeAsyncEngineCount)
NUMBER(CAN_MAP_HOST_MEMORY, hipDeviceAttributeCanMapHostMemory)
NUMBER(CAN_USE_HOST_POINTER, hipDeviceAttributeCanUseHostPointerForRegisteredMem)
NUMBER(CLOCK_RATE, hipDeviceAttributeClockRate)
NUMBER(CONCURRENT_KERNELS, hipDeviceAttributeConcurrentKernels)
NUMBER(CONCURRENT_MANAGED_ACCESS, hipDeviceAttributeConcurrentManagedAccess)
NUMBER(DIRECT_MANAGED_FROM_HOST, hipDeviceAttributeDirectManagedMemAccessFromHost)
NUMBER(HOST_NATIVE_ATOMIC, hipDeviceAttributeHostNativeAtomicSupported)
NUMBER(INTEGRATED, hipDeviceAttributeIntegrated)
NUMBER(L2_CACHE_SIZE, hipDeviceAttributeL2CacheSize)
NUMBER(COMPUTE_CAPABILITY_MAJOR, hipDeviceAttributeComputeCapabilityMajor)
NUMBER(COMPUTE_CAPABILITY_MINOR, hipDeviceAttributeComputeCapabilityMinor)
NUMBER(MANAGED_MEMORY, hipDeviceAttributeManagedMemory)
NUMBER(MAX_BLOCK_DIM_X, hipDeviceAttributeMaxBlockDimX)
NUMBER(MAX_BLOCK_DIM_Z, hipDeviceAttributeMaxBlockDimZ)
NUMBER(MAX_GRID_DIM_X, hipDeviceAttributeMaxGridDimX)
NUMBER(MAX_GRID_DIM_Z, hipDeviceAttributeMaxGridDimZ)
NUMBER(MAX_THREADS_PER_BLOCK, hipDeviceAttributeMaxThreadsPerBlock)
NUMBER(MAX_THREADS_PER_MULTIPROCESSOR, hipDeviceAttributeMaxThreadsPerMultiProcessor)
NUMBER(MEMORY_BUS_WIDTH, hipDeviceAttributeMemoryBusWidth)
NUMBER(MEMORY_CLOCK_RATE, hipDeviceAttributeMemoryClockRate)
NUMBER(MULTIPROCESSOR_COUNT, hipDeviceAttributeMultiprocessorCount)
NUMBER(PAGEABLE_MEMORY_ACCESS, hipDeviceAttributePageableMemoryAccess)
NUMBER(PAGEABLE_USES_HOST_PAGE_TABLES, hipDeviceAttributePageableMemoryAccessUsesHostPageTables)
NUMBER(PCI_BUS_ID, hipDeviceAttributePciBusId)
NUMBER(PCI_DEVICE_ID, hipDeviceAttributePciDeviceId)
NUMBER(PCI_DOMAIN_ID, hipDeviceAttributePciDomainID)
NUMBER(MAX_SHARED_MEMORY_PER_BLOCK, hipDeviceAttributeMaxSharedMemoryPerBlock)
NUMBER(TOTAL_GLOBAL_MEMORY, hipDeviceAttributeTotalGlobalMem)
NUMBER(UNIFIED_ADDRESSING, hipDeviceAttributeUnifiedAddressing)
NUMBER(WARP_SIZE, hipDeviceAttributeWarpSize)
NUMBER(MEMORY_POOLS_SUPPORTED, hipDeviceAttributeMemoryPoolsSupported)
NUMBER(HDP_MEM_FLUSH_CONTROL, hipDeviceAttributeHdpMemFlushCntl)
NUMBER(HDP_REG_FLUSH_CONTROL, hipDeviceAttributeHdpRegFlushCntl)
NUMBER(IS_LARGE_BAR, hipDeviceAttributeIsLargeBar)
NUMBER(CAN_USE_STREAM_WAIT_VALUE, hipDeviceAttributeCanUseStreamWaitValue)
NUMBER(PHYSICAL_MULTIPROCESSOR_COUNT, hipDeviceAttributePhysicalMultiProcessorCount)
NUMBER(FINE_GRAIN_SUPPORT, hipDeviceAttributeFineGrainSupport)
NUMBER(HOST5, hipMemoryTypeHost)
NUMBER(DEVICE5, hipMemoryTypeDevice)
NUMBER(UNIFIED5, hipMemoryTypeUnified)
NUMBER(RANGE_COHERENCY_MODE, hipMemRangeAttributeCoherencyMode)
NUMBER(FINE_GRAIN, hipMemRangeCoherencyModeFineGrain)
NUMBER(COARSE_GRAIN, hipMemRangeCoherencyModeCoarseGrain)
NUMBER(INDETERMINATE, hipMemRangeCoherencyModeIndeterminate)
NUMBER(SET_COARSE_GRAIN, hipMemAdviseSetCoarseGrain)
NUMBER(UNSET_COARSE_GRAIN, hipMemAdviseUnsetCoarseGrain)
NUMBER(PEER_PERFORMANCE_RANK, hipDevP2PAttrPerformanceRank)
NUMBER(PEER_ARRAY_ACCESS, hipDevP2PAttrHipArrayAccessSupported)
NUMBER(FUNC_SHARED_SIZE, HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
NUMBER(FUNC_MAX_DYNAMIC_SHARED, HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
NUMBER(FUNC_CARVEOUT, HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
NUMBER(POINTER_BUFFER_ID, HIP_POINTER_ATTRIBUTE_BUFFER_ID)
NUMBER(POINTER_RANGE_START, HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR)
NUMBER(POINTER_RANGE_SIZE, HIP_POINTER_ATTRIBUTE_RANGE_SIZE)
NUMBER(RTC_COMPILATION, HIPRTC_ERROR_COMPILATION)
NUMBER(hipMemcpyDeviceToDevice, ::hipMemcpyDeviceToDevice)
NUMBER(hipMemcpyDefault, ::hipMemcpyDefault)
#undef NUMBER

static_assert(
    [] {
        for (size_t i = 0; i < sizeof our_flags / sizeof *our_flags; ++i)
            if (our_flags[i] != their_flags[i]) return false;
        return true;
    }(),
    "a flag");
static_assert(sizeof(own::hipUUID) == sizeof(::hipUUID));
static_assert(sizeof(own::hipPointerAttribute_t) == sizeof(::hipPointerAttribute_t) &&
              offsetof(own::hipPointerAttribute_t, managed) == offsetof(::hipPointerAttribute_t, isManaged) &&
              offsetof(own::hipPointerAttribute_t, allocation_flags) == offsetof(::hipPointerAttribute_t, allocationFlags));
static_assert(sizeof(::hipDeviceProp_t) == 792 && offsetof(::hipDeviceProp_t, pciBusID) == 368 &&
              offsetof(::hipDeviceProp_t, gcnArchName) == 396 && offsetof(::hipDeviceProp_t, l2CacheSize) == 340 &&
              offsetof(::hipDeviceProp_t, ECCEnabled) == 740 && offsetof(::hipDeviceProp_t, isLargeBar) == 764);

#if HBF_HAVE_SMI_HEADER
namespace later {
[[maybe_unused]] constexpr Later rsmi_dev_memory_partition_get, rsmi_dev_compute_partition_get;
}
#define F(release, name, parameters)                                                                                        \
    static_assert(fits<hbf::emulated::smi::types::name, decltype(name)>, #name " is not as the header has it");
#include "conformance/emulators/amd/smi/functions.inc"
#undef F
namespace smi = hbf::emulated::smi;
static_assert(sizeof(smi::rsmi_error_count_t) == sizeof(::rsmi_error_count_t));
static_assert(sizeof(smi::rsmi_retired_page_record_t) == sizeof(::rsmi_retired_page_record_t));
static_assert(sizeof(smi::rsmi_frequencies_t) == sizeof(::rsmi_frequencies_t));
static_assert(sizeof(smi::rsmi_pcie_bandwidth_t) == sizeof(::rsmi_pcie_bandwidth_t));
static_assert(sizeof(smi::rsmi_version_t) == sizeof(::rsmi_version_t));
static_assert(smi::NOT_SUPPORTED == int{RSMI_STATUS_NOT_SUPPORTED} &&
              smi::INSUFFICIENT_SIZE == int{RSMI_STATUS_INSUFFICIENT_SIZE} &&
              smi::INIT_ERROR == int{RSMI_STATUS_INIT_ERROR} && smi::NOT_FOUND == int{RSMI_STATUS_NOT_FOUND});
static_assert(smi::UMC == uint64_t{RSMI_GPU_BLOCK_UMC} && smi::XGMI_WAFL == uint64_t{RSMI_GPU_BLOCK_XGMI_WAFL} &&
              smi::PCIE_BIF == uint64_t{RSMI_GPU_BLOCK_PCIE_BIF});
static_assert(smi::RAS_ENABLED == int{RSMI_RAS_ERR_STATE_ENABLED} &&
              smi::XGMI_MULTIPLE_ERRORS == int{RSMI_XGMI_STATUS_MULTIPLE_ERRORS});
static_assert(smi::MEMORY == uint32_t{RSMI_TEMP_TYPE_MEMORY} && smi::CLOCK_MEMORY == int{RSMI_CLK_TYPE_MEM} &&
              smi::GTT == int{RSMI_MEM_TYPE_GTT} && smi::LINK_XGMI == int{RSMI_IOLINK_TYPE_XGMI});
#endif

} // namespace
