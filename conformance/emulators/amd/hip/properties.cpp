// SPDX-License-Identifier: Apache-2.0
// hipDeviceProp_t, in both layouts: 792 bytes in 5.x, which the plain symbol keeps for ever, and 1,472 bytes from 6.0 on
// under hipGetDevicePropertiesR0600, to which the new header's macro leads. Only what is asked of a device here has a name.
#include <cstring>

#include "conformance/emulators/amd/hip/attributes.hpp"

namespace hbf::emulated::hip {
namespace {

struct Properties5 {
    char name[256];
    size_t memory, shared_per_block;
    int registers, warp, threads, block[3], grid[3], clock_khz, memory_clock_khz, bus_bits;
    size_t constants;
    int major, minor, compute_units, l2, threads_per_unit, compute_mode, instruction_khz;
    unsigned int features;
    int concurrent_kernels, pci_domain, pci_bus, pci_device;
    size_t shared_per_unit;
    int multi_board, map_host, gcn;
    char architecture[256];
    int integrated, cooperative[2], texture_linear, texture_1d, texture_2d[2], texture_3d[3];
    unsigned int *hdp_memory, *hdp_register;
    size_t pitch, texture_alignment, texture_pitch;
    int timeout, ecc, tcc, unmatched[4], large_bar, revision, managed, direct_managed, concurrent_managed, pageable,
        host_page_tables;
};
static_assert(sizeof(Properties5) == 792 && offsetof(Properties5, pci_bus) == 368 && offsetof(Properties5, l2) == 340 &&
              offsetof(Properties5, ecc) == 740 && offsetof(Properties5, architecture) == 396);

struct Properties6 {
    char name[256], uuid[16], luid[8];
    unsigned int node_mask;
    size_t memory, shared_per_block;
    int registers, warp;
    size_t pitch;
    int threads, block[3], grid[3], clock_khz;
    size_t constants;
    int major, minor;
    size_t texture_alignment, texture_pitch;
    int overlap, compute_units, timeout, integrated, map_host, compute_mode, textures[40];
    size_t surface_alignment;
    int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, engines, unified, memory_clock_khz, bus_bits, l2,
        persisting, threads_per_unit, priorities, l1[2];
    size_t shared_per_unit;
    int registers_per_unit, managed, multi_board[2], native_atomic, single_to_double, pageable, concurrent_managed,
        preemption, host_pointer, cooperative[2];
    size_t shared_optin;
    int host_page_tables, direct_managed, blocks_per_unit, window;
    size_t shared_reserved;
    int host_register, sparse, register_read_only, semaphore, pools, rdma;
    unsigned int rdma_flush;
    int rdma_ordering;
    unsigned int pool_handles;
    int deferred, ipc_event, cluster, function_pointers, reserved[63], hip_reserved[32];
    char architecture[256];
    size_t most_shared_per_unit;
    int instruction_khz;
    unsigned int features;
    unsigned int *hdp_memory, *hdp_register;
    int unmatched[4], large_bar, revision;
};
static_assert(sizeof(Properties6) == 1472 && offsetof(Properties6, pci_bus) == 584 && offsetof(Properties6, l2) == 616 &&
              offsetof(Properties6, ecc) == 580 && offsetof(Properties6, architecture) == 1160);

template <class Properties>
void fill(model::Device &device, void *to) {
    Properties out{};
    const auto ask = [&](Attribute attribute) { return attribute_of(device, attribute).value_or(0); };
    const auto text = [](auto &into, const std::string &from) { from.copy(into, sizeof into - 1); };
    text(out.name, device.name());
    text(out.architecture, full_architecture(device));
    out.memory = machine().memory().usage(device.index()).total;
    out.shared_per_block = static_cast<size_t>(ask(MAX_SHARED_MEMORY_PER_BLOCK));
    out.warp = ask(WARP_SIZE);
    out.threads = ask(MAX_THREADS_PER_BLOCK);
    for (int i = 0; i < 3; ++i) {
        out.block[i] = ask(static_cast<Attribute>(MAX_BLOCK_DIM_X + i));
        out.grid[i] = ask(static_cast<Attribute>(MAX_GRID_DIM_X + i));
    }
    out.clock_khz = ask(CLOCK_RATE);
    out.memory_clock_khz = ask(MEMORY_CLOCK_RATE);
    out.bus_bits = ask(MEMORY_BUS_WIDTH);
    out.major = ask(COMPUTE_CAPABILITY_MAJOR);
    out.minor = ask(COMPUTE_CAPABILITY_MINOR);
    out.compute_units = ask(MULTIPROCESSOR_COUNT);
    out.l2 = ask(L2_CACHE_SIZE);
    out.threads_per_unit = ask(MAX_THREADS_PER_MULTIPROCESSOR);
    out.concurrent_kernels = ask(CONCURRENT_KERNELS);
    out.pci_domain = ask(PCI_DOMAIN_ID);
    out.pci_bus = ask(PCI_BUS_ID);
    out.pci_device = ask(PCI_DEVICE_ID);
    out.map_host = ask(CAN_MAP_HOST_MEMORY);
    out.integrated = ask(INTEGRATED);
    out.ecc = ask(ECC_ENABLED);
    out.large_bar = ask(IS_LARGE_BAR);
    out.managed = ask(MANAGED_MEMORY);
    out.direct_managed = ask(DIRECT_MANAGED_FROM_HOST);
    out.concurrent_managed = ask(CONCURRENT_MANAGED_ACCESS);
    out.pageable = ask(PAGEABLE_MEMORY_ACCESS);
    out.host_page_tables = ask(PAGEABLE_USES_HOST_PAGE_TABLES);
    std::memcpy(to, &out, sizeof out);
}

} // namespace

extern "C" {

// Header of 5.2, hipGetDeviceProperties: "populates hipGetDeviceProperties with information for all devices".
hipError_t hipGetDeviceProperties(void *out, int device) {
    return of_device(Call::hipGetDeviceProperties, device, [&](model::Device &of) -> hipError_t {
        if (!out) return hipErrorInvalidValue;
        fill<Properties5>(of, out);
        return hipSuccess;
    });
}

// Release notes of HIP 6.0, "hipDeviceProp_t": a new structure under a new symbol.
hipError_t hipGetDevicePropertiesR0600(void *out, int device) {
    return of_device(Call::hipGetDevicePropertiesR0600, device, [&](model::Device &of) -> hipError_t {
        if (!out) return hipErrorInvalidValue;
        fill<Properties6>(of, out);
        return hipSuccess;
    });
}

} // extern "C"
} // namespace hbf::emulated::hip
