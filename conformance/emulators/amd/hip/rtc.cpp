// SPDX-License-Identifier: Apache-2.0
// hipRTC. It builds texts of the project's kernels, and nothing else: what it makes names the kernels that its text defines.
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/emulators/amd/hip/code_object.hpp"
#include "conformance/emulators/amd/hip/runtime.hpp"
#include "kernels/device/catalogue.hpp"

namespace hbf::emulated::hip {

struct Program {
    std::string source, name, log, code;
    bool compiled = false;
};

namespace {

// Header hiprtc.h, hiprtcResult: the name of each.
constexpr const char *result_names[] = {"HIPRTC_SUCCESS",
                                        "HIPRTC_ERROR_OUT_OF_MEMORY",
                                        "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
                                        "HIPRTC_ERROR_INVALID_INPUT",
                                        "HIPRTC_ERROR_INVALID_PROGRAM",
                                        "HIPRTC_ERROR_INVALID_OPTION",
                                        "HIPRTC_ERROR_COMPILATION",
                                        "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
                                        "HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
                                        "HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
                                        "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
                                        "HIPRTC_ERROR_INTERNAL_ERROR"};

std::mutex mutex;
std::vector<std::unique_ptr<Program>> &programs() {
    static auto *const all = new std::vector<std::unique_ptr<Program>>;
    return *all;
}

template <class Work>
hiprtcResult on_program(Call call, hiprtcProgram handle, Work &&work) {
    calls().count(static_cast<size_t>(call));
    const std::lock_guard lock(mutex);
    for (const auto &program : programs())
        if (program.get() == handle) return work(*program);
    return RTC_INVALID_PROGRAM;
}

// "gfx942" of "--offload-arch=gfx942:sramecc+:xnack-"; without such an option the first device's; "": there is none.
std::string processor_of(int count, const char **options) {
    for (int i = 0; i < count; ++i)
        for (const std::string_view option : {"--offload-arch=", "--gpu-architecture="})
            if (const std::string_view given = options[i]; given.starts_with(option))
                return std::string(given.substr(option.size(), given.find(':') - option.size()));
    return start() == hipSuccess ? current().profile().architecture : "";
}

bool refused(const std::string &processor) {
    if (start() != hipSuccess) return false;
    for (int i = 0; i < device_count(); ++i)
        if (device_of(i)->profile().architecture == processor)
            return machine().faults().fires(model::Fault::compile_fails, device_of(i)->index());
    return false;
}

hiprtcResult compile(Program &program, const std::string &processor) {
    program.compiled = false;
    std::vector<std::string> defined;
    for (const kernels::device::Kernel &kernel : kernels::device::catalogue())
        if (program.source == kernel.source) defined.emplace_back(kernel.function);
    const auto fail = [&](const std::string &why) {
        program.log = program.name + ":1:1: error: " + why + "\n1 error generated when compiling for " + processor + ".\n";
        return RTC_COMPILATION;
    };
    if (refused(processor)) return fail("the emulated compiler was told to fail");
    if (defined.empty()) return fail("the emulated compiler knows the project's kernels only, and this is none of them");
    program.code = make_code_object(processor, defined);
    if (program.code.empty()) return fail("unsupported HIP gpu architecture: " + processor);
    program.log.clear();
    program.compiled = true;
    return RTC_SUCCESS;
}

} // namespace

extern "C" {

// Header hiprtc.h, hiprtcGetErrorString.
const char *hiprtcGetErrorString(hiprtcResult result) {
    calls().count(static_cast<size_t>(Call::hiprtcGetErrorString));
    const bool known = result >= 0 && static_cast<size_t>(result) < std::size(result_names);
    return known ? result_names[result] : "Invalid HIPRTC error code";
}

// hiprtc.h, hiprtcVersion: of hipRTC: 9.0 in 5.2 and 6.x.
hiprtcResult hiprtcVersion(int *major, int *minor) {
    calls().count(static_cast<size_t>(Call::hiprtcVersion));
    if (!major || !minor) return RTC_INVALID_INPUT;
    *major = 9;
    *minor = 0;
    return RTC_SUCCESS;
}

// hiprtc.h, hiprtcCreateProgram: from a text, and headers by name.
hiprtcResult hiprtcCreateProgram(hiprtcProgram *out, const char *source, const char *name, int headers,
                                 const char **header_texts, const char **header_names) {
    calls().count(static_cast<size_t>(Call::hiprtcCreateProgram));
    if (!out || !source) return RTC_INVALID_INPUT;
    if (headers < 0 || (headers == 0 ? header_texts || header_names : !header_texts || !header_names))
        return RTC_INVALID_INPUT;
    auto program = std::make_unique<Program>();
    program->source = source;
    program->name = name && *name ? name : "CompileSource";
    const std::lock_guard lock(mutex);
    *out = program.get();
    programs().push_back(std::move(program));
    return RTC_SUCCESS;
}

// hiprtc.h, hiprtcCompileProgram: "if the program has been compiled, ... the log is generated".
hiprtcResult hiprtcCompileProgram(hiprtcProgram handle, int count, const char **options) {
    const std::string processor = count >= 0 && (count == 0 || options) ? processor_of(count, options) : "";
    return on_program(Call::hiprtcCompileProgram, handle, [&](Program &program) -> hiprtcResult {
        if (count < 0 || (count > 0 && !options)) return RTC_INVALID_INPUT;
        return compile(program, processor);
    });
}

// hiprtc.h, hiprtcDestroyProgram: the handle is null afterwards.
hiprtcResult hiprtcDestroyProgram(hiprtcProgram *handle) {
    if (!handle) return RTC_INVALID_INPUT;
    return on_program(Call::hiprtcDestroyProgram, *handle, [&](Program &program) {
        std::erase_if(programs(), [&](const auto &one) { return one.get() == &program; });
        *handle = nullptr;
        return RTC_SUCCESS;
    });
}

// hiprtc.h, hiprtcGetCodeSize and hiprtcGetCode: of a program that was compiled.
hiprtcResult hiprtcGetCodeSize(hiprtcProgram handle, size_t *size) {
    return on_program(Call::hiprtcGetCodeSize, handle, [&](Program &program) -> hiprtcResult {
        if (!size) return RTC_INVALID_INPUT;
        if (!program.compiled) return RTC_INVALID_PROGRAM;
        *size = program.code.size();
        return RTC_SUCCESS;
    });
}
hiprtcResult hiprtcGetCode(hiprtcProgram handle, char *code) {
    return on_program(Call::hiprtcGetCode, handle, [&](Program &program) -> hiprtcResult {
        if (!code) return RTC_INVALID_INPUT;
        if (!program.compiled) return RTC_INVALID_PROGRAM;
        std::memcpy(code, program.code.data(), program.code.size());
        return RTC_SUCCESS;
    });
}

// hiprtc.h, hiprtcGetProgramLogSize: with the 0 at its end; hiprtcGetProgramLog.
hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram handle, size_t *size) {
    return on_program(Call::hiprtcGetProgramLogSize, handle, [&](Program &program) -> hiprtcResult {
        if (!size) return RTC_INVALID_INPUT;
        *size = program.log.size() + 1;
        return RTC_SUCCESS;
    });
}
hiprtcResult hiprtcGetProgramLog(hiprtcProgram handle, char *log) {
    return on_program(Call::hiprtcGetProgramLog, handle, [&](Program &program) -> hiprtcResult {
        if (!log) return RTC_INVALID_INPUT;
        std::memcpy(log, program.log.c_str(), program.log.size() + 1);
        return RTC_SUCCESS;
    });
}

// hiprtc.h, hiprtcAddNameExpression and hiprtcGetLoweredName: the project's kernels have C names; no other is valid here.
hiprtcResult hiprtcAddNameExpression(hiprtcProgram handle, const char *) {
    return on_program(Call::hiprtcAddNameExpression, handle, [](Program &) { return 10; });
}
hiprtcResult hiprtcGetLoweredName(hiprtcProgram handle, const char *, const char **) {
    return on_program(Call::hiprtcGetLoweredName, handle, [](Program &) { return 10; });
}

} // extern "C"
} // namespace hbf::emulated::hip
