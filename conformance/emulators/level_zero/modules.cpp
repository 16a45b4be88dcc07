// SPDX-License-Identifier: Apache-2.0
// Modules of SPIR-V, and kernels, which run as their host twins.
#include "conformance/emulators/level_zero/lists.hpp"
#include "kernels/device/catalogue.hpp"

namespace hbf::emulated::l0 {
namespace {

using model::Fault;

// Names of the kernels in a SPIR-V module: OpEntryPoint with the execution model Kernel (SPIR-V, 3.42.11 and 2.3). False: it
// is none.
bool entry_points(const uint8_t *bytes, size_t size, std::vector<std::string> &out) {
    constexpr uint32_t magic = 0x07230203, entry_point = 15, kernel_model = 6;
    const auto word = [&](size_t i) {
        uint32_t value = 0;
        std::memcpy(&value, bytes + 4 * i, sizeof value);
        return value;
    };
    const size_t words = size / 4;
    if (size % 4 != 0 || words < 5 || word(0) != magic) return false;
    for (size_t at = 5; at < words;) {
        const uint32_t length = word(at) >> 16, opcode = word(at) & 0xffff;
        if (length == 0 || length > words - at) return false;
        if (opcode == entry_point && length > 3 && word(at + 1) == kernel_model) {
            const auto *const name = reinterpret_cast<const char *>(bytes + 4 * (at + 3));
            out.emplace_back(name, ::strnlen(name, 4 * size_t{length - 3}));
        }
        at += length;
    }
    return !out.empty();
}

Result refuse(ze::BuildLog *log, Result code, const char *why) {
    if (log) *log = new ze::BuildLogObject{why};
    return code;
}

} // namespace
} // namespace hbf::emulated::l0

using namespace hbf::emulated::l0;
using hbf::model::Fault;
using hbf::model::Operation;

// "A build log can optionally be returned to the caller", who destroys it.
HBF_ZE zeModuleCreate(ze::Context context, ze::Device device, const ze::ModuleDesc *desc, ze::Module *out,
                      ze::BuildLog *log) {
    if (any_null(context) || !device) return ze::invalid_null_handle;
    if (!desc || !out || !desc->pInputModule) return ze::invalid_null_pointer;
    if (desc->inputSize == 0) return ze::invalid_size;
    if (desc->format > 1) return ze::invalid_enumeration;
    if (log) *log = nullptr;
    if (const Result state = state_of(device->index); state != ze::success) return state;
    hbf::model::Faults &faults = machine().faults();
    if (desc->format != ze::format_spirv || faults.fires(Fault::image_refused, device->index))
        return refuse(log, ze::invalid_native_binary, "error: the binary is for another device\n");
    if (faults.fires(Fault::compile_fails, device->index))
        return refuse(log, ze::module_build_failure,
                      "error: undefined reference to `injected'\nerror: backend compiler failed\n");
    auto made = std::make_unique<ze::ModuleObject>();
    made->device = device->index;
    if (!entry_points(desc->pInputModule, desc->inputSize, made->names))
        return refuse(log, ze::module_build_failure, "error: invalid SPIR-V module\n");
    if (log) *log = new ze::BuildLogObject{};
    *out = made.release();
    return ze::success;
}

HBF_ZE zeModuleDestroy(ze::Module module) {
    if (!module) return ze::invalid_null_handle;
    delete module;
    return ze::success;
}

HBF_ZE zeModuleGetKernelNames(ze::Module module, uint32_t *count, const char **out) {
    if (!module) return ze::invalid_null_handle;
    return enumerate(count, out, module->names.size(), [&](uint32_t i) { return module->names[i].c_str(); });
}

HBF_ZE zeModuleBuildLogDestroy(ze::BuildLog log) {
    if (!log) return ze::invalid_null_handle;
    delete log;
    return ze::success;
}

// "size of build log string", with its 0.
HBF_ZE zeModuleBuildLogGetString(ze::BuildLog log, size_t *size, char *out) {
    if (!log) return ze::invalid_null_handle;
    if (!size) return ze::invalid_null_pointer;
    if (out) std::memcpy(out, log->text.c_str(), std::min(*size, log->text.size() + 1));
    *size = log->text.size() + 1;
    return ze::success;
}

HBF_ZE zeKernelCreate(ze::Module module, const ze::KernelDesc *desc, ze::Kernel *out) {
    if (!module) return ze::invalid_null_handle;
    if (!desc || !out || !desc->pKernelName) return ze::invalid_null_pointer;
    const std::string name = desc->pKernelName;
    const auto *const kernel = hbf::model::find_kernel(name);
    if (!kernel || std::find(module->names.begin(), module->names.end(), name) == module->names.end())
        return ze::invalid_kernel_name;
    auto made = std::make_unique<ze::KernelObject>();
    made->kernel = kernel;
    made->name = name;
    made->device = module->device;
    made->words.resize(2 * size_t{kernel->buffer_count});
    made->arguments.resize(kernel->arguments_size);
    *out = made.release();
    return ze::success;
}

HBF_ZE zeKernelDestroy(ze::Kernel kernel) {
    if (!kernel) return ze::invalid_null_handle;
    delete kernel;
    return ze::success;
}

HBF_ZE zeKernelSetGroupSize(ze::Kernel kernel, uint32_t x, uint32_t y, uint32_t z) {
    if (!kernel) return ze::invalid_null_handle;
    const uint64_t most = device_of(kernel->device).profile().max_group_size;
    if (x == 0 || y == 0 || z == 0 || x > most || y > most || z > most || uint64_t{x} * y * z > most)
        return ze::invalid_group_size;
    kernel->group_size[0] = x, kernel->group_size[1] = y, kernel->group_size[2] = z;
    return ze::success;
}

// "The argument values will be used when a zeCommandListAppendLaunchKernel variant is called": then they are copied.
HBF_ZE zeKernelSetArgumentValue(ze::Kernel kernel, uint32_t index, size_t size, const void *value) {
    if (!kernel) return ze::invalid_null_handle;
    const bool last = index == kernel->words.size();
    if (index > kernel->words.size()) return ze::invalid_kernel_argument_index;
    if (size != (last ? kernel->arguments.size() : sizeof(uint64_t))) return ze::invalid_kernel_argument_size;
    void *const to = last ? static_cast<void *>(kernel->arguments.data()) : &kernel->words[index];
    if (value)
        std::memcpy(to, value, size);
    else
        std::memset(to, 0, size); // "if argument is a pointer, NULL is a valid value"
    return ze::success;
}

HBF_ZE zeKernelGetProperties(ze::Kernel kernel, ze::KernelProperties *out) {
    if (!kernel) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    const auto stype = out->stype;
    void *const next = out->pNext;
    *out = {};
    out->stype = stype, out->pNext = next;
    const hbf::model::ProfileDevice &profile = device_of(kernel->device).profile();
    out->numKernelArgs = static_cast<uint32_t>(kernel->words.size() + 1);
    out->maxSubgroupSize = profile.warp;
    out->maxNumSubgroups = profile.max_group_size / profile.warp;
    out->localMemSize = kernel->kernel->local_size;
    return ze::success;
}

// Groups that may wait for each other: as many as the machine runs at once, a thread of its own and one beside it.
HBF_ZE zeKernelSuggestMaxCooperativeGroupCount(ze::Kernel kernel, uint32_t *out) {
    if (!kernel) return ze::invalid_null_handle;
    if (!out) return ze::invalid_null_pointer;
    *out = 2;
    return ze::success;
}

HBF_ZE zeKernelGetName(ze::Kernel kernel, size_t *size, char *out) {
    if (!kernel) return ze::invalid_null_handle;
    if (!size) return ze::invalid_null_pointer;
    if (out) std::memcpy(out, kernel->name.c_str(), std::min(*size, kernel->name.size() + 1));
    *size = kernel->name.size() + 1;
    return ze::success;
}

HBF_ZE zeCommandListAppendLaunchKernel(ze::List list, ze::Kernel kernel, const ze::GroupCount *groups, ze::Event signal,
                                       uint32_t count, ze::Event *waits) {
    if (any_null(list) || !kernel) return ze::invalid_null_handle;
    if (!groups) return ze::invalid_null_pointer;
    if (list->copies_only) return ze::invalid_argument; // "command list's command queue group must support compute"
    auto launch = std::make_unique<hbf::model::Launch>();
    launch->kernel = kernel->kernel;
    for (size_t i = 0; i < kernel->words.size() / 2; ++i)
        launch->buffers[i] = {kernel->words[2 * i] + kernel->words[2 * i + 1], 0};
    launch->groups[0] = groups->x, launch->groups[1] = groups->y, launch->groups[2] = groups->z;
    std::copy_n(kernel->group_size, 3, launch->group_size);
    std::copy(kernel->arguments.begin(), kernel->arguments.end(), launch->arguments.begin());
    Operation operation;
    operation.kind = Operation::Kind::launch;
    operation.launch = std::move(launch);
    return append(list, std::move(operation), signal, count, waits);
}
