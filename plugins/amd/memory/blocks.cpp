// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/memory/blocks.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <sys/mman.h>

#include "memory/placement.hpp" // of the host plugin
#include "plugins/amd/memory/registrations.hpp"
#include "plugins/amd/on_device.hpp"

namespace hbf::amd {
namespace {

void check_device(const OnDevice &here) {
    check(here.code(), "hipSetDevice");
}

std::byte *device_address(void *host) {
    void *out = nullptr;
    check(library().hip.HostGetDevicePointer(&out, host, 0), "hipHostGetDevicePointer");
    return static_cast<std::byte *>(out);
}

} // namespace

DeviceBlock::DeviceBlock(int owner, uint64_t size, CoherenceClass kind) : owner_(owner) {
    const OnDevice here(owner);
    check_device(here);
    const Hip &hip = library().hip;
    void *made = nullptr;
    if (kind == CoherenceClass::coarse)
        check(hip.Malloc(&made, size), fmt::format("hipMalloc of {} bytes", size));
    else
        check(hip.ExtMallocWithFlags(&made, size, kind == CoherenceClass::fine ? flag::malloc_fine : flag::malloc_uncached),
              fmt::format("hipExtMallocWithFlags of {} {} bytes", size, name_of(kind)));
    at_ = on_device_ = static_cast<std::byte *>(made);
}

DeviceBlock::~DeviceBlock() {
    const OnDevice here(owner_);
    (void)taken(library().hip.Free(at_));
}

HostBlock::HostBlock(int device, uint64_t size, CoherenceClass kind) : device_(device) {
    const OnDevice here(device);
    check_device(here);
    const Hip &hip = library().hip;
    void *made = nullptr;
    // HIP_HOST_COHERENT in the environment decides where neither is said.
    const unsigned flags = flag::host_portable | flag::host_mapped |
                           (kind == CoherenceClass::fine ? flag::host_coherent : flag::host_non_coherent);
    check(hip.HostMalloc(&made, size, flags), fmt::format("hipHostMalloc of {} bytes", size));
    at_ = static_cast<std::byte *>(made);
    try {
        on_device_ = device_address(made);
    } catch (...) {
        (void)taken(hip.HostFree(made));
        throw;
    }
}

HostBlock::~HostBlock() {
    const OnDevice here(device_);
    (void)taken(library().hip.HostFree(at_));
}

// Shared, so that a child of fork() leaves the pages where the device knows them: of private ones the parent gets new
// copies.
NodeBlock::NodeBlock(int device, uint64_t size, int node, bool place) : device_(device), size_(size) {
    void *const mapped = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) sdk::fail(HBF_EXHAUSTED, fmt::format("mmap of {} bytes: {}", size, std::strerror(errno)));
    at_ = static_cast<std::byte *>(mapped);
    try {
        if (place)
            if (const std::string why = host::bind_to_node(at_, size, node); !why.empty()) sdk::fail(HBF_UNAVAILABLE, why);
        std::memset(at_, 0, size); // takes the pages
        if (place)
            if (const host::PagePlace where = host::check_node(at_, size, node); where.known && !where.all_there)
                sdk::fail(HBF_EXHAUSTED, fmt::format("the page at offset {} came from NUMA node {} instead of {}",
                                                     where.offset, where.found, node));
        const OnDevice here(device);
        check_device(here);
        const Hip &hip = library().hip;
        check(hip.HostRegister(at_, size, flag::register_portable | flag::register_mapped),
              fmt::format("hipHostRegister of {} bytes of NUMA node {}", size, node));
        try {
            on_device_ = device_address(at_);
        } catch (...) {
            (void)taken(hip.HostUnregister(at_));
            throw;
        }
    } catch (...) {
        unmap();
        throw;
    }
}

NodeBlock::~NodeBlock() {
    {
        const OnDevice here(device_);
        (void)taken(library().hip.HostUnregister(at_));
    }
    unmap();
}

void NodeBlock::unmap() noexcept {
    ::munmap(at_, size_);
}

RegisteredBlock::RegisteredBlock(int device, void *address, uint64_t size) : device_(device), size_(size) {
    const OnDevice here(device);
    check_device(here);
    register_range(address, size);
    at_ = on_device_ = static_cast<std::byte *>(address);
    void *out = nullptr; // where there is no such address, kernels do not need it: copies take the host's
    if (taken(library().hip.HostGetDevicePointer(&out, address, 0)) == code::success)
        on_device_ = static_cast<std::byte *>(out);
}

RegisteredBlock::~RegisteredBlock() {
    const OnDevice here(device_);
    unregister_range(at_, size_);
}

} // namespace hbf::amd
