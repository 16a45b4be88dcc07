// SPDX-License-Identifier: Apache-2.0
// Launches. A kernel's own parameters are, for each buffer, an address and a byte offset, and at last its arguments
// (kernels/device/portable.h), each passed by a pointer or all in one block.
#include <algorithm>
#include <cstring>

#include "conformance/emulators/amd/hip/attributes.hpp"
#include "conformance/emulators/amd/hip/events.hpp"
#include "conformance/emulators/amd/hip/modules.hpp"
#include "conformance/sim/model/operation.hpp"
#include "kernels/device/catalogue.hpp"

namespace hbf::emulated::hip {
namespace {

// Header: HIP_LAUNCH_PARAM_BUFFER_POINTER 1, HIP_LAUNCH_PARAM_BUFFER_SIZE 2, HIP_LAUNCH_PARAM_END 3.
struct Packed {
    const std::byte *bytes = nullptr;
    size_t size = 0;
};
bool unpack(void *const *extra, Packed &out) {
    for (;; extra += 2) {
        switch (reinterpret_cast<uintptr_t>(extra[0])) {
        case 1:
            out.bytes = static_cast<const std::byte *>(extra[1]);
            break;
        case 2:
            out.size = *static_cast<const size_t *>(extra[1]);
            break;
        case 3:
            return out.bytes != nullptr;
        default:
            return false;
        }
    }
}

// Where parameter `index` lies; in a block they follow each other, all multiples of 8 bytes.
const void *parameter(void *const *separate, const Packed &packed, uint32_t index) {
    return separate ? separate[index] : packed.bytes + size_t{index} * sizeof(uint64_t);
}

hipError_t set_parameters(model::Launch &launch, void *const *separate, void *const *extra) {
    const kernels::device::Kernel &kernel = *launch.kernel;
    Packed packed;
    if (!separate && (!extra || !unpack(extra, packed))) return hipErrorInvalidValue;
    if (!separate && packed.size < size_t{kernel.buffer_count} * 16 + kernel.arguments_size) return hipErrorInvalidValue;
    for (uint32_t i = 0; i < kernel.buffer_count; ++i) {
        uint64_t parts[2];
        for (uint32_t j = 0; j < 2; ++j) std::memcpy(&parts[j], parameter(separate, packed, 2 * i + j), sizeof parts[j]);
        launch.buffers[i].address = parts[0] + parts[1];
    }
    std::memcpy(launch.arguments.data(), parameter(separate, packed, 2 * kernel.buffer_count), kernel.arguments_size);
    return hipSuccess;
}

} // namespace

extern "C" {

// Header, hipModuleLaunchKernel: grid in blocks; "passing both kernelParams and extra" is an error; hipErrorInvalidValue,
// and hipErrorInvalidConfiguration for what no grid may be.
hipError_t hipModuleLaunchKernel(hipFunction_t handle, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                                 unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared,
                                 hipStream_t stream_handle, void **parameters, void **extra) {
    return on_stream(Call::hipModuleLaunchKernel, stream_handle, [&](model::Stream &stream) -> hipError_t {
        model::Device &device = machine().device(stream.device());
        const Function *const function = function_of(handle);
        if (!function) return hipErrorInvalidHandle;
        if (function->module->device != stream.device()) return hipErrorInvalidContext;
        if (parameters && extra) return hipErrorInvalidValue;
        if (!function->kernel) return hipErrorNotSupported; // no kernel of the project: it has no twin
        const unsigned int groups[3] = {grid_x, grid_y, grid_z}, sizes[3] = {block_x, block_y, block_z};
        for (int i = 0; i < 3; ++i) {
            const int most = attribute_of(device, MAX_GRID_DIM_X + i).value_or(0);
            if (groups[i] == 0 || sizes[i] == 0 || groups[i] > static_cast<unsigned int>(most))
                return hipErrorInvalidConfiguration;
        }
        if (uint64_t{block_x} * block_y * block_z > device.profile().max_group_size) return hipErrorInvalidConfiguration;
        const int most_shared = attribute_of(device, MAX_SHARED_MEMORY_PER_BLOCK).value_or(0);
        if (uint64_t{shared} + function->kernel->local_size > static_cast<uint64_t>(most_shared))
            return hipErrorLaunchOutOfResources;
        auto launch = std::make_unique<model::Launch>();
        launch->kernel = function->kernel;
        std::copy_n(groups, 3, launch->groups);
        std::copy_n(sizes, 3, launch->group_size);
        if (const hipError_t no = set_parameters(*launch, parameters, extra)) return no;
        const hipError_t result = refusal(stream.launch(std::move(launch)));
        if (result == hipSuccess) launched(stream);
        return result;
    });
}

} // extern "C"
} // namespace hbf::emulated::hip
