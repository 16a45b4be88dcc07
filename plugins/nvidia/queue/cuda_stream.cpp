// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/queue/cuda_stream.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "plugins/nvidia/errors.hpp"

namespace hbf::nvidia {

CudaStream::CudaStream(const Context &context, const StreamChoices &choices, uint32_t most_copies, FileStore *store,
                       const sdk::Log &log)
    : cuda_(context.cuda), context_(context), choices_(choices), log_(log),
      files_(store ? std::make_unique<FileLane>(context, *store) : nullptr),
      batches_(choices.batches && cuda_.MemcpyBatchAsync != nullptr),
      dsts_(batches_ ? new cuda::Pointer[most_copies] : nullptr), srcs_(batches_ ? new cuda::Pointer[most_copies] : nullptr),
      sizes_(batches_ ? new size_t[most_copies] : nullptr) {
    const Current current(context);
    check(cuda_, current.code(), "cuCtxPushCurrent");
    check(cuda_, cuda_.StreamCreate(&stream_, cuda::stream_non_blocking), "cuStreamCreate");
}

CudaStream::~CudaStream() {
    const Current current(context_);
    (void)cuda_.StreamDestroy(stream_);
}

stream::Event CudaStream::make_event() {
    cuda::Event event = nullptr;
    check(cuda_, cuda_.EventCreate(&event, cuda::event_disable_timing), "cuEventCreate");
    try {
        if (files_) files_->add(event);
    } catch (...) {
        (void)cuda_.EventDestroy(event);
        throw;
    }
    return event;
}

void CudaStream::destroy_event(stream::Event event) noexcept {
    if (files_) files_->remove(of(event));
    (void)cuda_.EventDestroy(of(event));
}

int CudaStream::record(stream::Event event) noexcept {
    const cuda::Result code = cuda_.EventRecord(of(event), stream_);
    if (files_ && code == cuda::success) files_->record(of(event));
    return code;
}

stream::Answer CudaStream::query(stream::Event event) noexcept {
    stream::Answer out = answer(cuda_.EventQuery(of(event)));
    if (files_ && out.over && out.code == cuda::success) out.code = files_->outcome(of(event));
    return out;
}

int CudaStream::one(const stream::Copy &copy) noexcept {
    if (files_ && (copy.to->file || copy.from->file)) return files_->copy(copy, stream_);
    return cuda_.MemcpyAsync(copy.dst, copy.src, copy.size, stream_);
}

int CudaStream::copy(const stream::Copy *copies, uint32_t count) noexcept {
    const bool files = files_ && std::any_of(copies, copies + count,
                                             [](const stream::Copy &copy) { return copy.to->file || copy.from->file; });
    if (count > 1 && batches_ && !files) {
        const int code = batch(copies, count);
        if (code != cuda::not_supported) return code;
        batches_ = false; // nothing of it has begun
        log_.warning("cuMemcpyBatchAsync: CUDA_ERROR_NOT_SUPPORTED here; each copy is a call of its own from now on");
    }
    int code = cuda::success;
    for (uint32_t i = 0; i < count && code == cuda::success; ++i) code = one(copies[i]);
    return code;
}

int CudaStream::batch(const stream::Copy *copies, uint32_t count) noexcept {
    for (uint32_t i = 0; i < count; ++i) dsts_[i] = copies[i].dst, srcs_[i] = copies[i].src, sizes_[i] = copies[i].size;
    cuda::CopyAttributes attributes{};
    attributes.source_order = cuda::source_in_stream_order;
    size_t first = 0, failed = 0;
    return cuda_.MemcpyBatchAsync(dsts_.get(), srcs_.get(), sizes_.get(), count, &attributes, &first, 1, &failed, stream_);
}

int CudaStream::fill(const stream::Fill &fill) noexcept {
    if (files_ && fill.to->file) return files_->fill(fill, stream_);
    switch (fill.width) {
    case 1:
        return cuda_.MemsetD8Async(fill.dst, static_cast<unsigned char>(fill.value), fill.count, stream_);
    case 2:
        return cuda_.MemsetD16Async(fill.dst, static_cast<unsigned short>(fill.value), fill.count, stream_);
    case 4:
        return cuda_.MemsetD32Async(fill.dst, static_cast<unsigned>(fill.value), fill.count, stream_);
    default:
        break;
    }
    // There is none of 8 bytes: the first element by its halves, then what is there is doubled.
    int code = cuda_.MemsetD32Async(fill.dst, static_cast<unsigned>(fill.value), 1, stream_);
    if (code == cuda::success)
        code = cuda_.MemsetD32Async(fill.dst + 4, static_cast<unsigned>(fill.value >> 32), 1, stream_);
    const uint64_t bytes = fill.count * 8;
    for (uint64_t done = 8; code == cuda::success && done < bytes; done *= 2)
        code = cuda_.MemcpyAsync(fill.dst + done, fill.dst, std::min(done, bytes - done), stream_);
    return code;
}

// A hint: what it is not taken for costs time, not bytes. So its errors are no failures.
void CudaStream::hint(const stream::Launch &launch) noexcept {
    const uint32_t count = (launch.parameter_count - 1) / 2;
    uint64_t at = 0, size = 0;
    for (uint32_t i = 0; i < count; ++i) {
        const hbf_kernel_buffer &buffer = launch.buffers[i];
        if (!(buffer.access & HBF_KERNEL_READS) || buffer.size <= size) continue;
        at = *static_cast<uint64_t *>(launch.parameters[size_t{2} * i]) + buffer.offset;
        size = buffer.size;
    }
    size = std::min(size, context_.facts.max_window);
    if (size == 0 || (at == window_at_ && size == window_size_)) return;
    cuda::StreamAttribute value{};
    value.window.base = reinterpret_cast<void *>(at);
    value.window.bytes = size;
    value.window.hit_ratio =
        static_cast<float>(std::min(1.0, static_cast<double>(choices_.persisting_l2) / static_cast<double>(size)));
    value.window.hit = cuda::property_persisting;
    value.window.miss = cuda::property_streaming;
    if (cuda_.StreamSetAttribute(stream_, cuda::stream_attribute_window, &value) == cuda::success)
        window_at_ = at, window_size_ = size;
}

int CudaStream::launch(const stream::Launch &launch) noexcept {
    if (choices_.persisting_l2 != 0) hint(launch);
    return cuda_.LaunchKernel(static_cast<cuda::Function>(launch.function), launch.groups[0], launch.groups[1],
                              launch.groups[2], launch.group_size[0], launch.group_size[1], launch.group_size[2], 0, stream_,
                              launch.parameters, nullptr);
}

stream::Answer CudaStream::query_all() noexcept {
    const Current current(context_);
    return answer(cuda_.StreamQuery(stream_));
}

sdk::Failure CudaStream::explain(int code, bool ran) const {
    if (FileLane::ours(code)) return FileLane::explain(code);
    // Work that had begun and ended badly has taken the context along, whatever it is called.
    const hbf_status status = ran && code != cuda::not_supported ? HBF_DEVICE_LOST : error_status(code);
    return {status, error_text(cuda_, code)};
}

} // namespace hbf::nvidia
