// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/kernels/ability.hpp"

#include <cstring>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"
#include "plugins/opencl/errors.hpp"

namespace hbf::opencl {
namespace {

namespace device = kernels::device;

template <class Value>
Value value(const Functions &cl, cl_device_id device, cl_device_info info, const char *what) {
    Value out{};
    check(cl.GetDeviceInfo(device, info, sizeof out, &out, nullptr), what);
    return out;
}

// Empty where the driver does not know the question.
template <class Value>
std::vector<Value> list(const Functions &cl, cl_device_id device, cl_device_info info) {
    size_t size = 0;
    if (cl.GetDeviceInfo(device, info, 0, nullptr, &size) != CL_SUCCESS) return {};
    std::vector<Value> values(size / sizeof(Value));
    if (values.empty() ||
        cl.GetDeviceInfo(device, info, values.size() * sizeof(Value), values.data(), nullptr) != CL_SUCCESS)
        return {};
    return values;
}

// With 3.0 they are features, in 2.x every device has them.
std::string c11_options(const Functions &cl, cl_device_id device, const DeviceFacts &facts) {
    if (!facts.at_least(2, 0)) return "";
    if (!facts.at_least(3, 0)) return "-cl-std=CL2.0";
    bool language = false, order = false, scope = false;
    for (const auto &one : list<cl_name_version>(cl, device, CL_DEVICE_OPENCL_C_ALL_VERSIONS))
        language |= CL_VERSION_MAJOR(one.version) >= 3;
    for (const auto &one : list<cl_name_version>(cl, device, CL_DEVICE_OPENCL_C_FEATURES)) {
        const std::string_view name(one.name, strnlen(one.name, sizeof one.name));
        order |= name == "__opencl_c_atomic_order_acq_rel";
        scope |= name == "__opencl_c_atomic_scope_device";
    }
    if (!language || !order || !scope) return "";
    // PoCL 3.1 leaves the scope of all devices out of its list of features, and says here that its atomics reach so far.
    const auto reach = list<cl_device_atomic_capabilities>(cl, device, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES);
    const bool all = !reach.empty() && (reach.front() & CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES) != 0;
    return all ? "-cl-std=CL3.0 -DHBF_SCOPE_ALL_DEVICES" : "-cl-std=CL3.0";
}

} // namespace

Ability read_ability(const Functions &cl, cl_device_id id) {
    Ability out;
    out.platform = facts_of(cl, value<cl_platform_id>(cl, id, CL_DEVICE_PLATFORM, "CL_DEVICE_PLATFORM"));
    out.device = facts_of(cl, id);
    out.type = value<cl_device_type>(cl, id, CL_DEVICE_TYPE, "CL_DEVICE_TYPE");
    out.little_endian = value<cl_bool>(cl, id, CL_DEVICE_ENDIAN_LITTLE, "CL_DEVICE_ENDIAN_LITTLE") != 0;
    const auto profile = list<char>(cl, id, CL_DEVICE_PROFILE);
    out.int64 = std::string_view(profile.data(), profile.size()).starts_with("FULL") || out.device.has("cles_khr_int64");
    out.exact_division = (value<cl_device_fp_config>(cl, id, CL_DEVICE_SINGLE_FP_CONFIG, "CL_DEVICE_SINGLE_FP_CONFIG") &
                          CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    out.c11_options = c11_options(cl, id, out.device);
    out.max_parameters = value<size_t>(cl, id, CL_DEVICE_MAX_PARAMETER_SIZE, "CL_DEVICE_MAX_PARAMETER_SIZE");
    const auto extents = list<size_t>(cl, id, CL_DEVICE_MAX_WORK_ITEM_SIZES);
    if (extents.size() < out.max_group_extent.size())
        sdk::fail(HBF_INTERNAL, fmt::format("{} names {} dimensions of a work-group, where OpenCL has at least 3",
                                            out.device.name, extents.size()));
    for (size_t i = 0; i < out.max_group_extent.size(); ++i) out.max_group_extent[i] = extents[i];
    return out;
}

std::string missing(const Ability &ability, const device::Kernel &kernel) {
    std::string out;
    const auto need = [&](bool is_there, const std::string &what) {
        if (!is_there) out += (out.empty() ? "it needs " : ", ") + what;
    };
    need(ability.device.compiler, "a compiler at run time (CL_DEVICE_COMPILER_AVAILABLE)");
    need(ability.little_endian, "a little-endian device");
    need(ability.int64, "64-bit integers (cles_khr_int64)");
    const bool c11 = (kernel.needs & device::needs_c11_atomics) != 0;
    need(!c11 || !ability.c11_options.empty(), "C11 atomics in device scope (OpenCL C 3.0 with "
                                               "__opencl_c_atomic_order_acq_rel and __opencl_c_atomic_scope_device)");
    need(!(kernel.needs & device::needs_int64_atomics) || ability.device.has("cl_khr_int64_base_atomics"),
         "64-bit atomics (cl_khr_int64_base_atomics)");
    need(!(kernel.needs & device::needs_fp16) || ability.device.has("cl_khr_fp16"), "fp16 (cl_khr_fp16)");
    need(!(kernel.needs & device::needs_fp64) || ability.device.has("cl_khr_fp64"), "fp64 (cl_khr_fp64)");
    need(kernel.local_size <= ability.device.local,
         fmt::format("{} bytes of local memory, of which the device has {}", kernel.local_size, ability.device.local));
    const uint64_t parameters = kernel.arguments_size + 16 * static_cast<uint64_t>(kernel.buffer_count);
    need(parameters <= ability.max_parameters,
         fmt::format("{} bytes of parameters, of which the device takes {}", parameters, ability.max_parameters));
    return out;
}

std::string build_options(const Ability &ability, const device::Kernel &kernel) {
    const bool c11 = (kernel.needs & device::needs_c11_atomics) != 0;
    std::string out(c11 ? ability.c11_options : "-cl-std=CL1.2");
    // Else a quotient may be a little off, and differ from the twin's.
    if (ability.exact_division) out += " -cl-fp32-correctly-rounded-divide-sqrt";
    return out;
}

} // namespace hbf::opencl
