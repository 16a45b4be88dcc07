// SPDX-License-Identifier: Apache-2.0
// Code objects that are loaded, and their kernels by name. What runs is the twin of the project's kernel of that name.
#include "conformance/emulators/amd/hip/modules.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <mutex>

#include "conformance/emulators/amd/hip/attributes.hpp"
#include "conformance/emulators/amd/hip/code_object.hpp"
#include "conformance/sim/model/operation.hpp"
#include "kernels/device/catalogue.hpp"

namespace hbf::emulated::hip {
namespace {

std::mutex mutex;
std::vector<std::unique_ptr<Module>> &modules() {
    static auto *const all = new std::vector<std::unique_ptr<Module>>;
    return *all;
}

hipError_t load(model::Device &device, hipModule_t *out, const void *image) {
    if (!out || !image) return hipErrorInvalidValue;
    CodeObject object;
    if (!read_code_object(image, object)) return hipErrorInvalidImage;
    // Header, hipErrorNoBinaryForGpu: of another processor.
    if (machine().faults().fires(model::Fault::image_refused, device.index())) return hipErrorNoBinaryForGpu;
    if (object.processor != device.profile().architecture) return hipErrorNoBinaryForGpu;
    auto module = std::make_unique<Module>();
    module->device = device.index();
    for (std::string &name : object.kernels) {
        const kernels::device::Kernel *const kernel = model::find_kernel(name);
        module->functions.push_back(std::make_unique<Function>(Function{module.get(), std::move(name), kernel}));
    }
    const std::lock_guard lock(mutex);
    *out = module.get();
    modules().push_back(std::move(module));
    return hipSuccess;
}

Module *module_of(hipModule_t handle) {
    const std::lock_guard lock(mutex);
    for (const auto &module : modules())
        if (module.get() == handle) return handle->loaded ? handle : nullptr;
    return nullptr;
}

// Some that are unloaded stay, so that their address is not used again soon: few, or they are a leak to whoever counts.
void forget_old() {
    const std::lock_guard lock(mutex);
    auto &all = modules();
    const auto gone = [](const auto &module) { return !module->loaded; };
    if (std::count_if(all.begin(), all.end(), gone) > 8) all.erase(std::find_if(all.begin(), all.end(), gone));
}

} // namespace

const Function *function_of(hipFunction_t handle) {
    const std::lock_guard lock(mutex);
    for (const auto &module : modules())
        for (const auto &function : module->functions)
            if (function.get() == handle) return module->loaded ? handle : nullptr;
    return nullptr;
}

extern "C" {

// Header, hipModuleLoad: from a file; hipErrorFileNotFound.
hipError_t hipModuleLoad(hipModule_t *out, const char *path) {
    return on_device(Call::hipModuleLoad, [&](model::Device &device) -> hipError_t {
        if (!path) return hipErrorInvalidValue;
        std::ifstream file(path, std::ios::binary);
        if (!file) return hipErrorFileNotFound;
        std::string bytes{std::istreambuf_iterator<char>(file), {}};
        bytes.resize(std::max<size_t>(bytes.size(), 64)); // an ELF header, at least, can be looked at
        return load(device, out, bytes.data());
    });
}

// Header, hipModuleLoadData: "builds module from code object which resides in host memory"; "image is a pointer to that
// location".
hipError_t hipModuleLoadData(hipModule_t *out, const void *image) {
    return on_device(Call::hipModuleLoadData, [&](model::Device &device) { return load(device, out, image); });
}
// Header, hipModuleLoadDataEx: "the options are not used".
hipError_t hipModuleLoadDataEx(hipModule_t *out, const void *image, unsigned int, int *, void **) {
    return on_device(Call::hipModuleLoadDataEx, [&](model::Device &device) { return load(device, out, image); });
}

// Header, hipModuleUnload: "frees the module"; hipErrorInvalidResourceHandle.
hipError_t hipModuleUnload(hipModule_t handle) {
    return started(Call::hipModuleUnload, [&]() -> hipError_t {
        Module *const module = module_of(handle);
        if (!module || !module->loaded.exchange(false)) return hipErrorInvalidHandle;
        forget_old();
        return hipSuccess;
    });
}

// Header, hipModuleGetFunction: "function with kname will be extracted if present in module"; hipErrorNotFound.
hipError_t hipModuleGetFunction(hipFunction_t *out, hipModule_t handle, const char *name) {
    return started(Call::hipModuleGetFunction, [&]() -> hipError_t {
        if (!out || !name) return hipErrorInvalidValue;
        const Module *const module = module_of(handle);
        if (!module) return hipErrorInvalidHandle;
        for (const auto &function : module->functions)
            if (function->name == name) return give(out, function.get());
        return hipErrorNotFound;
    });
}

// Header, hipFuncGetAttribute: "find out attributes for a specific function".
hipError_t hipFuncGetAttribute(int *out, int attribute, hipFunction_t handle) {
    return started(Call::hipFuncGetAttribute, [&]() -> hipError_t {
        const Function *const function = function_of(handle);
        if (!function) return hipErrorInvalidHandle;
        model::Device &device = machine().device(function->module->device);
        const Architecture architecture = architecture_of(device);
        switch (attribute) {
        case FUNC_MAX_THREADS:
            return give(out, static_cast<int>(device.profile().max_group_size));
        case FUNC_SHARED_SIZE:
            return give(out, function->kernel ? static_cast<int>(function->kernel->local_size) : 0);
        case FUNC_CONST_SIZE:
        case FUNC_LOCAL_SIZE:
        case FUNC_CACHE_MODE:
        case FUNC_CARVEOUT:
            return give(out, 0);
        case FUNC_NUM_REGS:
            return give(out, 64);
        case FUNC_PTX_VERSION:
            return give(out, 0);
        case FUNC_BINARY_VERSION:
            return give(out, architecture.major * 10 + architecture.minor);
        case FUNC_MAX_DYNAMIC_SHARED:
            return give(out, attribute_of(device, MAX_SHARED_MEMORY_PER_BLOCK).value_or(0));
        default:
            return hipErrorInvalidValue;
        }
    });
}

} // extern "C"
} // namespace hbf::emulated::hip
