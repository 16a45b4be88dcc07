// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/kernels/build.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"
#include "plugins/opencl/errors.hpp"
#include "plugins/opencl/process_kept.hpp"

namespace hbf::opencl {
namespace {

namespace device = kernels::device;

std::string build_log(const BuildPlace &place, cl_program program) {
    size_t size = 0;
    if (place.cl.GetProgramBuildInfo(program, place.device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS)
        return {};
    std::string text(size, '\0');
    if (size > 0 &&
        place.cl.GetProgramBuildInfo(program, place.device, CL_PROGRAM_BUILD_LOG, size, text.data(), nullptr) != CL_SUCCESS)
        return {};
    text.resize(std::strlen(text.c_str()));
    return text;
}

// Calls `with` for each line that has something in it.
template <class With>
void each_line(std::string_view text, const With &with) {
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
        if (!line.empty()) with(line);
    }
}

// The first line that speaks of an error, else the first.
std::string first_words(std::string_view log) {
    std::string_view first, error;
    each_line(log, [&](std::string_view line) {
        if (first.empty()) first = line;
        if (error.empty() && line.find("error") != std::string_view::npos) error = line;
    });
    const std::string_view best = error.empty() ? first : error;
    return best.empty() ? "the compiler said nothing" : std::string(best.substr(0, 300));
}

[[noreturn]] void refuse(const BuildPlace &place, const device::Kernel &kernel, cl_program program, cl_int code,
                         const std::string &options) {
    const std::string log = build_log(place, program);
    place.log.write(HBF_LOG_ERROR, fmt::format("kernel {} does not build on {} with \"{}\": {}; the compiler said:",
                                               kernel.name, place.ability.device.name, options, error_text(code)));
    each_line(log, [&](std::string_view line) { place.log.write(HBF_LOG_ERROR, line); });
    sdk::fail(error_status(code), fmt::format("kernel {} does not build on {} ({}): {}; the log has all of it", kernel.name,
                                              place.ability.device.name, error_text(code), first_words(log)));
}

// The kernel's object, and what the driver says of it; `why` where it cannot be had.
cl_int take_kernel(const BuildPlace &place, const device::Kernel &kernel, Built &built, std::string &why) {
    const Functions &cl = place.cl;
    const auto failed = [&why](cl_int code, std::string_view call) {
        if (code != CL_SUCCESS) why = fmt::format("{}: {}", call, error_text(code));
        return code != CL_SUCCESS;
    };
    cl_int code = CL_SUCCESS;
    built.kernel.reset(cl.CreateKernel(built.program.get(), std::string(kernel.function).c_str(), &code));
    if (failed(code, "clCreateKernel")) return code;
    cl_uint parameters = 0;
    code = cl.GetKernelInfo(built.kernel.get(), CL_KERNEL_NUM_ARGS, sizeof parameters, &parameters, nullptr);
    if (failed(code, "clGetKernelInfo")) return code;
    if (parameters != 2 * kernel.buffer_count + 1) {
        why = fmt::format("it has {} parameters instead of {}", parameters, 2 * kernel.buffer_count + 1);
        return CL_INVALID_KERNEL;
    }
    size_t group_size = 0;
    code = cl.GetKernelWorkGroupInfo(built.kernel.get(), place.device, CL_KERNEL_WORK_GROUP_SIZE, sizeof group_size,
                                     &group_size, nullptr);
    if (failed(code, "clGetKernelWorkGroupInfo")) return code;
    built.max_group_size = static_cast<uint32_t>(std::min<uint64_t>(group_size, UINT32_MAX));
    return CL_SUCCESS;
}

// Nothing where the cache has no program, or one that the driver does not take: a newer driver of the same name, say.
std::optional<Built> from_cache(const BuildPlace &place, const device::Kernel &kernel, const std::string &key,
                                const std::string &options) {
    const Functions &cl = place.cl;
    const auto binary = place.cache.find(key, kernel.name);
    if (!binary) return std::nullopt;
    const size_t size = binary->size();
    const auto *bytes = reinterpret_cast<const unsigned char *>(binary->data());
    cl_int loaded = CL_SUCCESS, code = CL_SUCCESS;
    Built built;
    built.from_cache = true;
    built.program.reset(cl.CreateProgramWithBinary(place.context, 1, &place.device, &size, &bytes, &loaded, &code));
    std::string why = "clCreateProgramWithBinary: " + error_text(code != CL_SUCCESS ? code : loaded);
    if (code == CL_SUCCESS) code = loaded;
    if (code == CL_SUCCESS) {
        code = cl.BuildProgram(built.program.get(), 1, &place.device, options.c_str(), nullptr, nullptr);
        why = "clBuildProgram: " + error_text(code);
    }
    if (code == CL_SUCCESS) code = take_kernel(place, kernel, built, why);
    if (code == CL_SUCCESS) return built;
    if (code == CL_DEVICE_NOT_AVAILABLE) check(code, fmt::format("kernel {}", kernel.name));
    place.log.warning(
        fmt::format("kernel {}: the driver does not take the program that the opencl cache has of it, {}; it is "
                    "compiled anew",
                    kernel.name, why));
    return std::nullopt;
}

void keep(const BuildPlace &place, const device::Kernel &kernel, const std::string &key, cl_program program) {
    size_t size = 0;
    if (place.cl.GetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, nullptr) != CL_SUCCESS || size == 0)
        return; // this driver gives none
    std::string binary(size, '\0');
    auto *bytes = reinterpret_cast<unsigned char *>(binary.data());
    if (place.cl.GetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) return;
    place.cache.store(key, binary, kernel.name);
}

} // namespace

Built build(const BuildPlace &place, const device::Kernel &kernel) {
    const ProcessKept process;
    const Functions &cl = place.cl;
    const std::string options = build_options(place.ability, kernel);
    const std::string key = ProgramCache::key(place.ability, kernel.source, options);
    if (auto built = from_cache(place, kernel, key, options)) return std::move(*built);

    Built built;
    const char *text = kernel.source.data();
    const size_t length = kernel.source.size();
    cl_int code = CL_SUCCESS;
    built.program.reset(cl.CreateProgramWithSource(place.context, 1, &text, &length, &code));
    check(code, fmt::format("kernel {}: clCreateProgramWithSource", kernel.name));
    code = cl.BuildProgram(built.program.get(), 1, &place.device, options.c_str(), nullptr, nullptr);
    if (code != CL_SUCCESS) refuse(place, kernel, built.program.get(), code, options);
    std::string why;
    code = take_kernel(place, kernel, built, why);
    if (code != CL_SUCCESS) sdk::fail(error_status(code), fmt::format("kernel {}: {}", kernel.name, why));
    if (built.max_group_size == 0)
        sdk::fail(HBF_UNSUPPORTED, fmt::format("kernel {}: {} has not the room for one work-item of it", kernel.name,
                                               place.ability.device.name));
    keep(place, kernel, key, built.program.get());
    return built;
}

} // namespace hbf::opencl
