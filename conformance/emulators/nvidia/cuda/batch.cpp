// SPDX-License-Identifier: Apache-2.0
// Reference, cuMemcpyBatchAsync: "The batch as a whole executes in stream order but copies within a batch are not guaranteed
// to execute in any specific order."
#include <vector>

#include "conformance/emulators/nvidia/cuda/owned.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

struct Batch {
    CUdeviceptr *to, *from;
    size_t *sizes, count;
    CUmemcpyAttributes *attributes;
    size_t *first, attribute_count; // of the copies that each set of attributes is about
};

bool right(const Batch &batch, size_t &failed) {
    failed = SIZE_MAX; // "SIZE_MAX if the error doesn't pertain to any specific copy"
    if (!batch.to || !batch.from || !batch.sizes || batch.count == 0) return false;
    if (!batch.attributes || !batch.first || batch.attribute_count == 0 || batch.attribute_count > batch.count) return false;
    for (size_t i = 0; i < batch.attribute_count; ++i) {
        const int order = batch.attributes[i].source_access_order;
        if (order < ORDER_STREAM || order > ORDER_ANY || batch.attributes[i].flags > 1) return false;
        if (i == 0 ? batch.first[0] != 0 : batch.first[i] <= batch.first[i - 1]) return false;
        if (batch.first[i] >= batch.count) return false;
    }
    for (failed = 0; failed < batch.count; ++failed)
        if (batch.to[failed] == 0 || batch.from[failed] == 0 || batch.sizes[failed] == 0) return false;
    return true;
}

// DURING_API_CALL: "access to the source pointer can be out of stream order and all accesses must be complete before the API
// call returns". ANY: "the accesses can happen even after the API call returns", so also before. Either way a source that
// work ahead in the stream still writes is read as it is now; the destination is written in the stream's order.
model::Outcome read_now(Stream &stream, std::span<const model::CopyRange> copies) {
    std::vector<model::Operation> operations;
    for (const model::CopyRange &copy : copies) {
        bool pageable = false;
        const model::Agent engine{stream.context->device->index(), model::Agent::Kind::copy_engine};
        for (const uint64_t address : {copy.src, copy.dst})
            if (const auto bad = machine().memory().check(engine, address, copy.size, &pageable); bad != model::Outcome::ok)
                return bad;
        model::Operation operation = model::Operation::copy(copy.dst, copy.src, copy.size);
        operation.together = !operations.empty();
        operation.staged = std::make_unique<std::byte[]>(copy.size);
        const model::Outcome taken = machine().memory().peek(copy.src, operation.staged.get(), copy.size);
        if (taken != model::Outcome::ok) return taken;
        operations.push_back(std::move(operation));
    }
    return stream.stream->submit(std::span(operations)) ? model::Outcome::ok : stream.context->device->status();
}

model::Outcome put(Stream &stream, std::span<const model::CopyRange> copies, int order) {
    const bool misread = order == ORDER_STREAM &&
                         machine().faults().fires(model::Fault::cuda_batch_any_order, stream.context->device->index());
    return order == ORDER_STREAM && !misread ? stream.stream->copy_batch(copies, true) : read_now(stream, copies);
}

CUresult batch_copy(Call function, const Batch &batch, size_t &failed, CUstream handle) {
    return in_context(function, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream) return INVALID_HANDLE;
        // "Must not be legacy NULL stream" (parameter hStream).
        if (!right(batch, failed) || stream->legacy) return INVALID_VALUE;
        static thread_local std::vector<model::CopyRange> ranges; // kept, so that a warmed call allocates nothing
        ranges.clear();
        for (size_t i = 0; i < batch.count; ++i) ranges.push_back({batch.to[i], batch.from[i], batch.sizes[i]});
        failed = SIZE_MAX;
        for (size_t i = 0; i < batch.attribute_count; ++i) {
            const size_t end = i + 1 < batch.attribute_count ? batch.first[i + 1] : batch.count;
            const model::Outcome outcome = put(*stream, std::span(ranges).subspan(batch.first[i], end - batch.first[i]),
                                               batch.attributes[i].source_access_order);
            if (outcome != model::Outcome::ok) return refusal(outcome);
        }
        return SUCCESS;
    });
}

} // namespace

extern "C" {

CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count, CUmemcpyAttributes *attributes,
                            size_t *first, size_t attribute_count, size_t *fail_index, CUstream stream) {
    size_t failed = SIZE_MAX;
    const CUresult result =
        batch_copy(Call::cuMemcpyBatchAsync, {to, from, sizes, count, attributes, first, attribute_count}, failed, stream);
    if (fail_index && result != SUCCESS) *fail_index = failed;
    return result;
}

// Release 13.0 took the index of the failed copy away.
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                               CUmemcpyAttributes *attributes, size_t *first, size_t attribute_count, CUstream stream) {
    size_t failed = SIZE_MAX;
    return batch_copy(Call::cuMemcpyBatchAsync_v2, {to, from, sizes, count, attributes, first, attribute_count}, failed,
                      stream);
}

} // extern "C"
} // namespace hbf::emulated::cuda
