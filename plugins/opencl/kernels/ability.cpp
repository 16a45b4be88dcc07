// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/kernels/ability.hpp"

#include <cstdio>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"
#include "plugins/opencl/errors.hpp"

namespace hbf::opencl {
namespace {

namespace device = kernels::device;

// Asks one object (a device, its platform) about itself.
template <class Object>
class Asked {
public:
    using Call = cl_int (*)(Object, cl_uint, size_t, void *, size_t *);
    Asked(Call call, Object object, const char *what) : call_(call), object_(object), what_(what) {}

    template <class Value>
    Value value(cl_uint name) const {
        Value value{};
        check(call_(object_, name, sizeof value, &value, nullptr), what_);
        return value;
    }
    std::string text(cl_uint name) const {
        size_t size = 0;
        check(call_(object_, name, 0, nullptr, &size), what_);
        std::string text(size, '\0');
        if (size > 0) check(call_(object_, name, size, text.data(), nullptr), what_);
        text.resize(std::strlen(text.c_str()));
        return text;
    }
    // Empty where the driver does not know the question.
    template <class Value>
    std::vector<Value> list(cl_uint name) const {
        size_t size = 0;
        if (call_(object_, name, 0, nullptr, &size) != CL_SUCCESS) return {};
        std::vector<Value> values(size / sizeof(Value));
        if (values.empty() || call_(object_, name, values.size() * sizeof(Value), values.data(), nullptr) != CL_SUCCESS)
            return {};
        return values;
    }

private:
    Call call_;
    Object object_;
    const char *what_;
};

bool has_word(const std::string &words, std::string_view word) {
    for (size_t at = words.find(word); at != std::string::npos; at = words.find(word, at + 1)) {
        const size_t end = at + word.size();
        if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
    }
    return false;
}

struct Version {
    unsigned major = 0, minor = 0;
    bool at_least(unsigned a, unsigned b) const { return major > a || (major == a && minor >= b); }
};
Version version_of(const std::string &text) { // "OpenCL 1.2 whatever the vendor says"
    Version version;
    if (std::sscanf(text.c_str(), "OpenCL %u.%u", &version.major, &version.minor) != 2) return {};
    return version;
}

// With 3.0 they are features, in 2.x every device has them.
std::string_view c11_options(const Asked<cl_device_id> &asked, const Version &version) {
    if (version.at_least(2, 0) && !version.at_least(3, 0)) return "-cl-std=CL2.0";
    if (!version.at_least(3, 0)) return "";
    bool language = false, order = false, scope = false;
    for (const auto &one : asked.list<cl_name_version>(CL_DEVICE_OPENCL_C_ALL_VERSIONS))
        language |= CL_VERSION_MAJOR(one.version) >= 3;
    for (const auto &one : asked.list<cl_name_version>(CL_DEVICE_OPENCL_C_FEATURES)) {
        const std::string_view name(one.name, strnlen(one.name, sizeof one.name));
        order |= name == "__opencl_c_atomic_order_acq_rel";
        scope |= name == "__opencl_c_atomic_scope_device";
    }
    if (!language || !order || !scope) return "";
    // PoCL 3.1 leaves the scope of all devices out of its list of features, and says here that its atomics reach so far.
    const auto reach = asked.list<cl_device_atomic_capabilities>(CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES);
    const bool all = !reach.empty() && (reach.front() & CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES) != 0;
    return all ? "-cl-std=CL3.0 -DHBF_SCOPE_ALL_DEVICES" : "-cl-std=CL3.0";
}

} // namespace

Ability read_ability(const Functions &cl, cl_device_id id) {
    const Asked<cl_device_id> asked(cl.GetDeviceInfo, id, "clGetDeviceInfo");
    const Asked<cl_platform_id> platform(cl.GetPlatformInfo, asked.value<cl_platform_id>(CL_DEVICE_PLATFORM),
                                         "clGetPlatformInfo");
    Ability out;
    out.platform = platform.text(CL_PLATFORM_NAME);
    out.platform_version = platform.text(CL_PLATFORM_VERSION);
    out.name = asked.text(CL_DEVICE_NAME);
    out.version = asked.text(CL_DEVICE_VERSION);
    out.driver = asked.text(CL_DRIVER_VERSION);
    out.extensions = asked.text(CL_DEVICE_EXTENSIONS);
    out.type = asked.value<cl_device_type>(CL_DEVICE_TYPE);
    out.little_endian = asked.value<cl_bool>(CL_DEVICE_ENDIAN_LITTLE) != 0;
    out.compiler = asked.value<cl_bool>(CL_DEVICE_COMPILER_AVAILABLE) != 0;
    out.int64 = asked.text(CL_DEVICE_PROFILE) == "FULL_PROFILE" || has_word(out.extensions, "cles_khr_int64");
    out.int64_atomics = has_word(out.extensions, "cl_khr_int64_base_atomics");
    out.fp16 = has_word(out.extensions, "cl_khr_fp16");
    out.fp64 = has_word(out.extensions, "cl_khr_fp64");
    out.exact_division =
        (asked.value<cl_device_fp_config>(CL_DEVICE_SINGLE_FP_CONFIG) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
    out.c11_options = c11_options(asked, version_of(out.version));
    out.local_memory = asked.value<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE);
    out.max_parameters = asked.value<size_t>(CL_DEVICE_MAX_PARAMETER_SIZE);
    out.compute_units = asked.value<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS);
    out.max_group_size = asked.value<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
    const auto extents = asked.list<size_t>(CL_DEVICE_MAX_WORK_ITEM_SIZES);
    if (extents.size() < out.max_group_extent.size())
        sdk::fail(HBF_INTERNAL, fmt::format("{} names {} dimensions of a work-group, where OpenCL has at least 3", out.name,
                                            extents.size()));
    for (size_t i = 0; i < out.max_group_extent.size(); ++i) out.max_group_extent[i] = extents[i];
    return out;
}

std::string missing(const Ability &ability, const device::Kernel &kernel) {
    std::string out;
    const auto need = [&](bool is_there, const std::string &what) {
        if (!is_there) out += (out.empty() ? "it needs " : ", ") + what;
    };
    need(ability.compiler, "a compiler at run time (CL_DEVICE_COMPILER_AVAILABLE)");
    need(ability.little_endian, "a little-endian device");
    need(ability.int64, "64-bit integers (cles_khr_int64)");
    const bool c11 = (kernel.needs & device::needs_c11_atomics) != 0;
    need(!c11 || !ability.c11_options.empty(), "C11 atomics in device scope (OpenCL C 3.0 with "
                                               "__opencl_c_atomic_order_acq_rel and __opencl_c_atomic_scope_device)");
    need(!(kernel.needs & device::needs_int64_atomics) || ability.int64_atomics,
         "64-bit atomics (cl_khr_int64_base_atomics)");
    need(!(kernel.needs & device::needs_fp16) || ability.fp16, "fp16 (cl_khr_fp16)");
    need(!(kernel.needs & device::needs_fp64) || ability.fp64, "fp64 (cl_khr_fp64)");
    need(kernel.local_size <= ability.local_memory,
         fmt::format("{} bytes of local memory, of which the device has {}", kernel.local_size, ability.local_memory));
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
