// SPDX-License-Identifier: Apache-2.0
// cnrt.h, "Memory Management". Copies go by what lies at an address. A direction that says otherwise "may lead to
// unpredictable behaviour": here the bytes go where the addresses say, unless the direction is none of the enumeration.
#include "conformance/emulators/cambricon/runtime/runtime.hpp"

namespace hbf::emulated::cnrt {
namespace {

uint64_t address(const void *at) noexcept {
    return reinterpret_cast<uintptr_t>(at);
}

cnrtRet_t copy(Call function, void *dst, void *src, size_t bytes, cnrtQueue_t queue, int direction) {
    return on_device(function, [&]() -> cnrtRet_t {
        if (direction < HostToDev || direction > NoDirection) return ErrorMemcpyDirectionInvalid;
        if (!dst || !src) return ErrorArgsInvalid;
        return cn::cnMemcpyAsync_V3(address(dst), address(src), bytes, queue);
    });
}

} // namespace

extern "C" {

cnrtRet_t cnrtMalloc(void **at, size_t bytes) {
    return on_device(Call::cnrtMalloc, [&]() -> cnrtRet_t {
        if (!at) return ErrorArgsInvalid;
        cn::CNaddr made = 0;
        const cnrtRet_t no = cn::cnMalloc(&made, bytes);
        *at = reinterpret_cast<void *>(made);
        return no;
    });
}

cnrtRet_t cnrtFree(void *at) {
    return on_device(Call::cnrtFree, [&] { return cn::cnFree(address(at)); });
}

// Of size 0: NULL, and no error (as torch_mlu relies on).
cnrtRet_t cnrtHostMalloc(void **at, size_t bytes) {
    return on_device(Call::cnrtHostMalloc, [&]() -> cnrtRet_t {
        if (!at) return ErrorArgsInvalid;
        *at = nullptr;
        return bytes == 0 ? static_cast<cnrtRet_t>(Success) : cn::cnMallocHost(at, bytes);
    });
}

cnrtRet_t cnrtFreeHost(void *at) {
    return on_device(Call::cnrtFreeHost, [&] { return cn::cnFreeHost(at); });
}

cnrtRet_t cnrtMemGetInfo(size_t *free, size_t *total) {
    return on_device(Call::cnrtMemGetInfo, [&]() -> cnrtRet_t {
        uint64_t is_free = 0, all = 0;
        const cnrtRet_t no = cn::cnMemGetInfo(&is_free, &all);
        if (free) *free = is_free;
        if (total) *total = all;
        return no;
    });
}

cnrtRet_t cnrtMemset(void *at, int value, size_t bytes) {
    return on_device(Call::cnrtMemset, [&]() -> cnrtRet_t {
        const cnrtRet_t no = cn::cnMemsetD8Async(address(at), static_cast<unsigned char>(value), bytes, nullptr);
        return no != Success ? no : cn::cnQueueSync(nullptr);
    });
}

cnrtRet_t cnrtMemsetAsync(void *at, int value, size_t bytes, cnrtQueue_t queue) {
    return on_device(Call::cnrtMemsetAsync,
                     [&] { return cn::cnMemsetD8Async(address(at), static_cast<unsigned char>(value), bytes, queue); });
}

cnrtRet_t cnrtMemcpy(void *dst, void *src, size_t bytes, int direction) {
    const cnrtRet_t no = copy(Call::cnrtMemcpy, dst, src, bytes, nullptr, direction);
    return no != Success ? no : remember(cn::cnQueueSync(nullptr));
}

cnrtRet_t cnrtMemcpyAsync(void *dst, void *src, size_t bytes, cnrtQueue_t queue, int direction) {
    return copy(Call::cnrtMemcpyAsync, dst, src, bytes, queue, direction);
}
cnrtRet_t cnrtMemcpyAsync_V2(void *dst, void *src, size_t bytes, cnrtQueue_t queue, int direction) {
    return copy(Call::cnrtMemcpyAsync_V2, dst, src, bytes, queue, direction);
}
cnrtRet_t cnrtMemcpyAsync_V3(void *dst, void *src, size_t bytes, cnrtQueue_t queue, int direction) {
    return copy(Call::cnrtMemcpyAsync_V3, dst, src, bytes, queue, direction);
}

// There is nothing to enable first: peer copies work where cnrtGetPeerAccessibility says so.
cnrtRet_t cnrtMemcpyPeerAsync(void *dst, int dst_device, void *src, int src_device, size_t bytes, cnrtQueue_t queue) {
    return on_device(Call::cnrtMemcpyPeerAsync, [&]() -> cnrtRet_t {
        cn::CNdev device = 0;
        for (const int ordinal : {dst_device, src_device})
            if (const cnrtRet_t no = cn::cnDeviceGet(&device, ordinal); no != Success) return no;
        return cn::cnMemcpyAsync_V3(address(dst), address(src), bytes, queue);
    });
}
cnrtRet_t cnrtMemcpyPeer(void *dst, int dst_device, void *src, int src_device, size_t bytes) {
    const cnrtRet_t no = cnrtMemcpyPeerAsync(dst, dst_device, src, src_device, bytes, nullptr);
    return no != Success ? no : remember(cn::cnQueueSync(nullptr));
}

cnrtRet_t cnrtPointerGetAttributes(cnrtPointerAttributes_t *out, const void *at) {
    return on_device(Call::cnrtPointerGetAttributes, [&]() -> cnrtRet_t {
        if (!out) return ErrorArgsInvalid;
        *out = {};
        cn::CNaddr base = 0;
        uint64_t bytes = 0;
        if (cn::cnMemGetAddressRange(&base, &bytes, address(at)) != Success) return Success; // unregistered
        out->type = 2;
        out->size = bytes;
        out->device_pointer = const_cast<void *>(at);
        out->device_base_pointer = reinterpret_cast<void *>(base);
        return Success;
    });
}

} // extern "C"

} // namespace hbf::emulated::cnrt
