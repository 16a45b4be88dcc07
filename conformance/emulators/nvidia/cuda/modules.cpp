// SPDX-License-Identifier: Apache-2.0
// Reference, "Module Management" and "Library Management".
#include <algorithm>
#include <cstring>

#include "conformance/emulators/nvidia/cuda/attributes.hpp"
#include "conformance/emulators/nvidia/cuda/images.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

// Options as the caller gives them: numbers, and beside each a value in a pointer's place.
struct Options {
    unsigned int count;
    const int *names;
    void **values;

    void **find(int name) const {
        for (unsigned int i = 0; i < count; ++i)
            if (names[i] == name) return &values[i];
        return nullptr;
    }
};

// CU_JIT_ERROR_LOG_BUFFER (5), its size (6): "on output ... the amount of data filled".
void write_log(const Options &options, const std::string &log) {
    constexpr int buffer = 5, size = 6;
    void **const out = options.find(buffer), **const room = options.find(size);
    if (!out || !*out || !room || reinterpret_cast<uintptr_t>(*room) == 0) return;
    const size_t filled = std::min(log.size(), reinterpret_cast<uintptr_t>(*room) - 1);
    std::memcpy(*out, log.data(), filled);
    static_cast<char *>(*out)[filled] = '\0';
    *room = reinterpret_cast<void *>(filled);
}

bool end(Module &module) noexcept {
    if (!module.is(Module::kind)) return false;
    for (Function *const function : module.functions) retire(function);
    module.functions = {};
    return retire(&module);
}

int capability(model::Device &device) {
    return 10 * *attribute_of(device, COMPUTE_CAPABILITY_MAJOR) + *attribute_of(device, COMPUTE_CAPABILITY_MINOR);
}

CUresult load(Call function, CUmodule *out, const void *bytes, const Options &options) {
    return in_context(function, [&](Context &context) -> CUresult {
        if (!out || !bytes) return INVALID_VALUE;
        if (options.count != 0 && (!options.names || !options.values)) return INVALID_VALUE;
        Image image = look_at(bytes, capability(*context.device));
        if (machine().faults().fires(model::Fault::image_refused, context.device->index()))
            image.refused = NO_BINARY_FOR_GPU, image.log = "no kernel image for this device";
        if (image.refused) {
            write_log(options, image.log);
            return image.refused;
        }
        auto *const module = make<Module>();
        module->binary_version = image.binary_version;
        module->ptx_version = image.ptx_version;
        const auto fill = [&] {
            module->functions.reserve(image.entries.size());
            for (const std::string &entry : image.entries)
                module->functions.push_back(make<Function>(*module, model::find_kernel(entry), entry));
        };
        or_undo(fill, [&] { end(*module); });
        *out = module;
        return SUCCESS;
    });
}

CUresult unload(Call function, CUmodule module) {
    return call(function, [&]() -> CUresult { return valid(module) && end(*module) ? SUCCESS : INVALID_HANDLE; });
}

CUresult find(Call function, CUfunction *out, CUmodule module, const char *name) {
    return call(function, [&]() -> CUresult {
        if (!out || !name) return INVALID_VALUE;
        if (!valid(module)) return INVALID_HANDLE;
        for (Function *const one : module->functions)
            if (one->name == name) return give(out, one);
        return NOT_FOUND;
    });
}

} // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule *out, const void *image) {
    return load(Call::cuModuleLoadData, out, image, {0, nullptr, nullptr});
}

CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned int count, int *options, void **values) {
    return load(Call::cuModuleLoadDataEx, out, image, {count, options, values});
}

CUresult cuModuleUnload(CUmodule module) {
    return unload(Call::cuModuleUnload, module);
}

CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name) {
    return find(Call::cuModuleGetFunction, out, module, name);
}

CUresult cuModuleGetFunctionCount(unsigned int *out, CUmodule module) {
    return call(Call::cuModuleGetFunctionCount, [&]() -> CUresult {
        return valid(module) ? give(out, static_cast<unsigned int>(module->functions.size())) : INVALID_VALUE;
    });
}

CUresult cuModuleGetLoadingMode(int *out) {
    return call(Call::cuModuleGetLoadingMode, [&] { return give(out, 2); }); // CU_MODULE_LAZY_LOADING
}

// A library is loaded for every context; here the current one decides whether it can be.
CUresult cuLibraryLoadData(CUlibrary *out, const void *image, int *options, void **values, unsigned int count, int *,
                           void **, unsigned int) {
    return load(Call::cuLibraryLoadData, out, image, {count, options, values});
}

CUresult cuLibraryUnload(CUlibrary library) {
    return unload(Call::cuLibraryUnload, library);
}

CUresult cuLibraryGetKernel(CUkernel *out, CUlibrary library, const char *name) {
    return find(Call::cuLibraryGetKernel, out, library, name);
}

CUresult cuLibraryGetModule(CUmodule *out, CUlibrary library) {
    return call(Call::cuLibraryGetModule,
                [&]() -> CUresult { return valid(library) ? give(out, library) : INVALID_HANDLE; });
}

CUresult cuKernelGetFunction(CUfunction *out, CUkernel kernel) {
    return call(Call::cuKernelGetFunction, [&]() -> CUresult { return valid(kernel) ? give(out, kernel) : INVALID_HANDLE; });
}

} // extern "C"
} // namespace hbf::emulated::cuda
