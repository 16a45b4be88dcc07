// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/memory/blocks.hpp"

#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugins/nvidia/errors.hpp"

namespace hbf::nvidia {
namespace {

cuda::AllocationProp property(cuda::Device home) {
    cuda::AllocationProp out{};
    out.type = cuda::allocation_pinned;
    out.location = {cuda::location_device, home};
    return out;
}

// 0, or errno. A node that is full is no reason to end the process: memory then comes from the next one.
int prefer_node(void *at, uint64_t bytes, int node) {
    constexpr size_t bits = 1024;
    if (node < 0 || static_cast<size_t>(node) >= bits) return EINVAL;
    unsigned long mask[bits / (8 * sizeof(unsigned long))] = {};
    constexpr size_t width = 8 * sizeof(unsigned long);
    mask[static_cast<size_t>(node) / width] |= 1ul << (static_cast<size_t>(node) % width);
    return ::syscall(SYS_mbind, at, bytes, MPOL_PREFERRED, mask, bits + 1, 0) == 0 ? 0 : errno;
}

} // namespace

uint64_t MappedBlock::granularity(const Context &user, cuda::Device home) {
    const Current current(user);
    const cuda::AllocationProp prop = property(home);
    size_t bytes = 0;
    check(user.cuda, user.cuda.MemGetAllocationGranularity(&bytes, &prop, cuda::granularity_minimum),
          "cuMemGetAllocationGranularity");
    if (bytes == 0 || (bytes & (bytes - 1)) != 0)
        sdk::fail(HBF_INTERNAL, fmt::format("cuMemGetAllocationGranularity says {}, which is no power of two", bytes));
    return bytes;
}

MappedBlock::MappedBlock(const Context &user, cuda::Device home, uint64_t bytes, uint64_t alignment)
    : user_(user), bytes_(bytes) {
    const Driver &cuda = user.cuda;
    const Current current(user);
    check(cuda, current.code(), "cuCtxPushCurrent");
    const auto must = [&](cuda::Result code, const char *what) {
        if (code == cuda::success) return;
        end();
        sdk::fail(error_status(code), fmt::format("{} of {} bytes: {}", what, bytes, error_text(cuda, code)));
    };
    must(cuda.MemAddressReserve(&at_, bytes, alignment, 0, 0), "cuMemAddressReserve");
    const cuda::AllocationProp prop = property(home);
    must(cuda.MemCreate(&handle_, bytes, &prop, 0), "cuMemCreate");
    created_ = true;
    must(cuda.MemMap(at_, bytes, 0, handle_, 0), "cuMemMap");
    mapped_ = true;
    const cuda::AccessDesc users[] = {{{cuda::location_device, user.facts.device}, cuda::access_read_write},
                                      {{cuda::location_device, home}, cuda::access_read_write}};
    must(cuda.MemSetAccess(at_, bytes, users, home == user.facts.device ? 1 : 2), "cuMemSetAccess");
}

void MappedBlock::end() noexcept {
    if (mapped_) (void)user_.cuda.MemUnmap(at_, bytes_);
    if (created_) (void)user_.cuda.MemRelease(handle_);
    if (at_ != 0) (void)user_.cuda.MemAddressFree(at_, bytes_);
    mapped_ = created_ = false;
    at_ = 0;
}

MappedBlock::~MappedBlock() {
    const Current current(user_);
    end();
}

PlainBlock::PlainBlock(const Context &context, uint64_t bytes, uint64_t alignment) : context_(context) {
    constexpr uint64_t always = 256; // what the driver aligns to
    const Current current(context);
    check(context.cuda, current.code(), "cuCtxPushCurrent");
    const uint64_t more = alignment > always ? alignment : 0;
    if (const cuda::Result code = context.cuda.MemAlloc(&at_, bytes + more); code != cuda::success)
        sdk::fail(error_status(code),
                  fmt::format("cuMemAlloc of {} bytes: {}", bytes + more, error_text(context.cuda, code)));
    aligned_ = (at_ + alignment - 1) / alignment * alignment;
}

PlainBlock::~PlainBlock() {
    const Current current(context_);
    (void)context_.cuda.MemFree(at_);
}

PinnedBlock::PinnedBlock(const Context &context, uint64_t bytes, uint64_t alignment, int node) {
    const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    map_size_ = bytes + (alignment > page ? alignment : 0);
    map_ = ::mmap(nullptr, map_size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (map_ == MAP_FAILED)
        sdk::fail(HBF_EXHAUSTED, fmt::format("mmap of {} bytes of pinned memory: {}", map_size_, std::strerror(errno)));
    if (node >= 0) (void)prefer_node(map_, map_size_, node); // whether it can be asked is said in the tier's detail
    const auto begin = reinterpret_cast<uint64_t>(map_);
    host_ = reinterpret_cast<std::byte *>((begin + alignment - 1) / alignment * alignment);
    try {
        range_.emplace(context, host_, bytes);
    } catch (...) {
        ::munmap(map_, map_size_);
        throw;
    }
}

PinnedBlock::~PinnedBlock() {
    range_.reset();
    ::munmap(map_, map_size_);
}

std::string node_trouble(int node) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    void *const one = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (one == MAP_FAILED) return std::strerror(errno);
    const int error = prefer_node(one, page, node);
    ::munmap(one, page);
    return error == 0 ? "" : std::strerror(error);
}

} // namespace hbf::nvidia
