// SPDX-License-Identifier: Apache-2.0
// Commands: each runs where it is enqueued, or ends with an error.
#include <cstring>

#include "plugins/opencl/tests/fake/fake.hpp"

using namespace hbf::opencl::fake;

namespace {

// CL_SUCCESS, or what `lost` wants of this command.
cl_int end_of_next() {
    static std::atomic<uint64_t> commands{0};
    const std::string lost = setting("lost");
    if (lost.empty()) {
        commands = 0;
        return CL_SUCCESS;
    }
    const size_t colon = lost.find(':');
    return ++commands >= std::strtoull(lost.c_str() + colon + 1, nullptr, 10) ? std::atoi(lost.c_str()) : CL_SUCCESS;
}

// A function's name, what it waits for, its event, and what it does.
template <class Work>
cl_int run(std::string_view function, cl_uint count, const cl_event *waits, cl_event *event, const Work &work,
           bool is_command = true) {
    const Own own;
    if (const cl_int code = wanted(function)) return code;
    if ((count == 0) != (waits == nullptr)) return CL_INVALID_EVENT_WAIT_LIST;
    cl_int end = CL_SUCCESS;
    for (cl_uint i = 0; i < count; ++i) {
        if (waits[i]->status > CL_COMPLETE) return CL_INVALID_OPERATION; // a user event: this runtime never waits
        if (waits[i]->status < 0) end = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    }
    if (end == CL_SUCCESS && is_command) end = end_of_next();
    if (end == CL_SUCCESS)
        if (const cl_int code = work()) return code;
    if (event) {
        *event = new _cl_event;
        (*event)->status = end == CL_SUCCESS ? CL_COMPLETE : end;
    }
    return CL_SUCCESS;
}

bool holds(cl_mem memory, size_t offset, size_t size) {
    return memory && size > 0 && offset <= memory->size && size <= memory->size - offset;
}

_cl_command_queue *make_queue(cl_context context, cl_int *code) {
    if (const cl_int failure = wanted("clCreateCommandQueue")) return made<_cl_command_queue>(nullptr, failure, code);
    auto *const queue = new _cl_command_queue;
    queue->context = context;
    return made(queue, CL_SUCCESS, code);
}

} // namespace

extern "C" {

cl_command_queue clCreateCommandQueue(cl_context context, cl_device_id, cl_command_queue_properties, cl_int *code) {
    return make_queue(context, code);
}
cl_command_queue clCreateCommandQueueWithProperties(cl_context context, cl_device_id, const cl_queue_properties *,
                                                    cl_int *code) {
    return make_queue(context, code);
}
cl_int clReleaseCommandQueue(cl_command_queue queue) {
    return release(queue, CL_INVALID_COMMAND_QUEUE);
}
cl_int clFlush(cl_command_queue) {
    const Own own;
    return wanted("clFlush");
}
cl_int clFinish(cl_command_queue) {
    return wanted("clFinish");
}

cl_int clEnqueueReadBuffer(cl_command_queue, cl_mem memory, cl_bool, size_t offset, size_t size, void *to, cl_uint count,
                           const cl_event *waits, cl_event *event) {
    return run("clEnqueueReadBuffer", count, waits, event, [&]() -> cl_int {
        if (!holds(memory, offset, size)) return CL_INVALID_VALUE;
        std::memcpy(to, memory->bytes + offset, size);
        return CL_SUCCESS;
    });
}
cl_int clEnqueueWriteBuffer(cl_command_queue, cl_mem memory, cl_bool, size_t offset, size_t size, const void *from,
                            cl_uint count, const cl_event *waits, cl_event *event) {
    return run("clEnqueueWriteBuffer", count, waits, event, [&]() -> cl_int {
        if (!holds(memory, offset, size)) return CL_INVALID_VALUE;
        std::memcpy(memory->bytes + offset, from, size);
        return CL_SUCCESS;
    });
}
cl_int clEnqueueCopyBuffer(cl_command_queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t size,
                           cl_uint count, const cl_event *waits, cl_event *event) {
    return run("clEnqueueCopyBuffer", count, waits, event, [&]() -> cl_int {
        if (!holds(from, from_offset, size) || !holds(to, to_offset, size)) return CL_INVALID_VALUE;
        const unsigned char *const source = from->bytes + from_offset;
        unsigned char *const target = to->bytes + to_offset;
        if (source < target + size && target < source + size) return CL_MEM_COPY_OVERLAP;
        std::memcpy(target, source, size);
        return CL_SUCCESS;
    });
}
cl_int clEnqueueFillBuffer(cl_command_queue, cl_mem memory, const void *pattern, size_t width, size_t offset, size_t size,
                           cl_uint count, const cl_event *waits, cl_event *event) {
    return run("clEnqueueFillBuffer", count, waits, event, [&]() -> cl_int {
        if (!holds(memory, offset, size) || width == 0 || offset % width != 0 || size % width != 0) return CL_INVALID_VALUE;
        for (size_t at = 0; at < size; at += width) std::memcpy(memory->bytes + offset + at, pattern, width);
        return CL_SUCCESS;
    });
}
void *clEnqueueMapBuffer(cl_command_queue, cl_mem memory, cl_bool, cl_map_flags, size_t offset, size_t size, cl_uint count,
                         const cl_event *waits, cl_event *event, cl_int *code) {
    const cl_int failure = run("clEnqueueMapBuffer", count, waits, event,
                               [&]() -> cl_int { return holds(memory, offset, size) ? CL_SUCCESS : CL_INVALID_VALUE; });
    if (code) *code = failure;
    return failure == CL_SUCCESS ? memory->bytes + offset : nullptr;
}
cl_int clEnqueueUnmapMemObject(cl_command_queue, cl_mem, void *, cl_uint count, const cl_event *waits, cl_event *event) {
    return run("clEnqueueUnmapMemObject", count, waits, event, [] { return CL_SUCCESS; });
}
cl_int clEnqueueMigrateMemObjects(cl_command_queue, cl_uint, const cl_mem *, cl_mem_migration_flags, cl_uint count,
                                  const cl_event *waits, cl_event *event) {
    return run("clEnqueueMigrateMemObjects", count, waits, event, [] { return CL_SUCCESS; });
}
cl_int clEnqueueMarkerWithWaitList(cl_command_queue, cl_uint count, const cl_event *waits, cl_event *event) {
    return run("clEnqueueMarkerWithWaitList", count, waits, event, [] { return CL_SUCCESS; }, false);
}
cl_int clEnqueueBarrierWithWaitList(cl_command_queue, cl_uint count, const cl_event *waits, cl_event *event) {
    return run("clEnqueueBarrierWithWaitList", count, waits, event, [] { return CL_SUCCESS; }, false);
}

cl_int clEnqueueNDRangeKernel(cl_command_queue, cl_kernel kernel, cl_uint dimensions, const size_t *first,
                              const size_t *items, const size_t *group, cl_uint count, const cl_event *waits,
                              cl_event *event) {
    return run("clEnqueueNDRangeKernel", count, waits, event, [&]() -> cl_int {
        const auto &of = *kernel->program->kernel;
        // Somebody else began to set parameters, or set some in between.
        if (kernel->setter != std::this_thread::get_id()) return CL_INVALID_KERNEL_ARGS;
        kernel->setter = {};
        if (dimensions == 0 || dimensions > 3 || first || kernel->parameters.size() != 2 * of.buffer_count + 1)
            return CL_INVALID_KERNEL_ARGS;
        uint32_t groups[3] = {1, 1, 1}, sizes[3] = {1, 1, 1};
        for (cl_uint i = 0; i < dimensions; ++i) {
            if (group[i] == 0 || items[i] % group[i] != 0) return CL_INVALID_WORK_GROUP_SIZE;
            sizes[i] = static_cast<uint32_t>(group[i]);
            groups[i] = static_cast<uint32_t>(items[i] / group[i]);
        }
        if (uint64_t{sizes[0]} * sizes[1] * sizes[2] > number("groups", 256)) return CL_INVALID_WORK_GROUP_SIZE;
        std::vector<hbf::kernels::device::TwinBuffer> buffers(of.buffer_count);
        for (cl_uint i = 0; i < of.buffer_count; ++i) {
            cl_mem memory = nullptr;
            cl_ulong offset = 0;
            std::memcpy(&memory, kernel->parameters[2 * i].data(), sizeof memory);
            std::memcpy(&offset, kernel->parameters[2 * i + 1].data(), sizeof offset);
            if (!holds(memory, offset, 1)) return CL_INVALID_KERNEL_ARGS;
            buffers[i] = {memory->bytes + offset, memory->size - offset};
        }
        hbf::kernels::device::run(of, buffers.data(), kernel->parameters[2 * of.buffer_count].data(), groups, sizes);
        return CL_SUCCESS;
    });
}

cl_int clWaitForEvents(cl_uint count, const cl_event *events) {
    const Own own;
    if (const cl_int code = wanted("clWaitForEvents")) return code;
    for (cl_uint i = 0; i < count; ++i)
        if (events[i]->status < 0) return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
    return CL_SUCCESS;
}
cl_int clGetEventInfo(cl_event event, cl_event_info info, size_t size, void *out, size_t *needed) {
    const Own own;
    if (const cl_int code = wanted("clGetEventInfo")) return code;
    return info == CL_EVENT_COMMAND_EXECUTION_STATUS ? give(event->status, size, out, needed) : CL_INVALID_VALUE;
}
cl_int clGetEventProfilingInfo(cl_event, cl_profiling_info, size_t, void *, size_t *) {
    return CL_PROFILING_INFO_NOT_AVAILABLE;
}
cl_event clCreateUserEvent(cl_context, cl_int *code) {
    auto *const event = new _cl_event;
    event->status = CL_SUBMITTED;
    return made(event, CL_SUCCESS, code);
}
cl_int clSetUserEventStatus(cl_event event, cl_int status) {
    event->status = status;
    return CL_SUCCESS;
}
cl_int clSetEventCallback(cl_event event, cl_int, void(CL_CALLBACK *callback)(cl_event, cl_int, void *), void *data) {
    callback(event, event->status, data);
    return CL_SUCCESS;
}
cl_int clRetainEvent(cl_event event) {
    const Own own;
    retain(event);
    return CL_SUCCESS;
}
cl_int clReleaseEvent(cl_event event) {
    const Own own;
    return release(event, CL_INVALID_EVENT);
}

} // extern "C"
