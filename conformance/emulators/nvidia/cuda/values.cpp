// SPDX-License-Identifier: Apache-2.0
// Reference, "Stream Memory Operations": words that a stream writes and waits for.
#include <vector>

#include "conformance/emulators/nvidia/cuda/attributes.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

enum Op : int { wait_32 = 1, write_32 = 2, flush_remote = 3, wait_64 = 4, write_64 = 5, barrier = 6 };

// "By default, the condition is to wait for (int64_t)(*addr - value) >= 0, a cyclic greater-or-equal."
bool compare(unsigned int flags, model::Compare &out) {
    switch (flags & ~unsigned{WAIT_VALUE_FLUSH}) {
    case WAIT_VALUE_GEQ:
        out = model::Compare::at_least;
        return true;
    case WAIT_VALUE_EQ:
        out = model::Compare::equal;
        return true;
    case WAIT_VALUE_AND:
        out = model::Compare::bits_set;
        return true;
    case WAIT_VALUE_NOR:
        out = model::Compare::any_clear;
        return true;
    default:
        return false;
    }
}

CUresult operation(int op, CUdeviceptr address, uint64_t value, unsigned int flags, model::Operation &out) {
    if (op == barrier) {
        out.kind = model::Operation::Kind::barrier;
        return SUCCESS;
    }
    const bool wait = op == wait_32 || op == wait_64;
    if (!wait && op != write_32 && op != write_64) return op == flush_remote ? NOT_SUPPORTED : INVALID_VALUE;
    out.kind = wait ? model::Operation::Kind::wait_value : model::Operation::Kind::write_value;
    out.size = op == wait_64 || op == write_64 ? 8 : 4;
    (wait ? out.src : out.dst) = address;
    out.value = value;
    if (address == 0 || address % out.size != 0 || !machine().memory().find(address)) return INVALID_VALUE;
    if (wait) {
        // CU_STREAM_WAIT_VALUE_FLUSH: "only supported if CAN_FLUSH_REMOTE_WRITES".
        if ((flags & WAIT_VALUE_FLUSH) != 0) return NOT_SUPPORTED;
        return compare(flags, out.compare) ? SUCCESS : INVALID_VALUE;
    }
    return flags <= 1 ? SUCCESS : INVALID_VALUE;
}

CUresult one(Call function, CUstream handle, int op, CUdeviceptr address, uint64_t value, unsigned int flags) {
    return in_context(function, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream) return INVALID_HANDLE;
        if (!has(*context.device, CAN_USE_64_BIT_STREAM_MEM_OPS)) return NOT_SUPPORTED;
        model::Operation made;
        if (const CUresult no = operation(op, address, value, flags, made)) return no;
        return stream->stream->submit(std::move(made)) ? SUCCESS : code(context.device->status());
    });
}

} // namespace

extern "C" {

CUresult cuStreamWriteValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags) {
    return one(Call::cuStreamWriteValue32_v2, stream, write_32, address, value, flags);
}
CUresult cuStreamWriteValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags) {
    return one(Call::cuStreamWriteValue64_v2, stream, write_64, address, value, flags);
}
CUresult cuStreamWaitValue32_v2(CUstream stream, CUdeviceptr address, uint32_t value, unsigned int flags) {
    return one(Call::cuStreamWaitValue32_v2, stream, wait_32, address, value, flags);
}
CUresult cuStreamWaitValue64_v2(CUstream stream, CUdeviceptr address, uint64_t value, unsigned int flags) {
    return one(Call::cuStreamWaitValue64_v2, stream, wait_64, address, value, flags);
}

// "Batch memory operations ... count must be less than 256"; all are checked before one is put.
CUresult cuStreamBatchMemOp_v2(CUstream handle, unsigned int count, CUstreamBatchMemOpParams *parameters,
                               unsigned int flags) {
    return in_context(Call::cuStreamBatchMemOp_v2, [&](Context &context) -> CUresult {
        Stream *const stream = stream_of(handle, context);
        if (!stream) return INVALID_HANDLE;
        if (!parameters || count == 0 || count > 256 || flags != 0) return INVALID_VALUE;
        std::vector<model::Operation> operations(count);
        for (unsigned int i = 0; i < count; ++i) {
            const auto &of = parameters[i].value;
            const bool narrow = parameters[i].operation == wait_32 || parameters[i].operation == write_32;
            const uint64_t value = narrow ? of.value & 0xffffffffu : of.value;
            if (const CUresult no = operation(parameters[i].operation, of.address, value, of.flags, operations[i]))
                return no;
        }
        return stream->stream->submit(std::span(operations)) ? SUCCESS : code(context.device->status());
    });
}

} // extern "C"
} // namespace hbf::emulated::cuda
