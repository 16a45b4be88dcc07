// SPDX-License-Identifier: Apache-2.0
// An emulated compiler: it takes a program, says what the real one says of its options, and writes images without code
// (images.hpp). So plugins that compile kernels at run time are tried where there is no CUDA toolkit.
#include <array>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/emulators/calls/calls.hpp"
#include "conformance/emulators/nvidia/nvrtc/api.hpp"
#include "conformance/emulators/nvidia/nvrtc/images.hpp"
#include "conformance/sim/model/machine.hpp"

#define HBF_EXPORTED __attribute__((visibility("default")))

namespace hbf::emulated::nvrtc {

struct Program {
    std::string source, name, log, cubin, ptx;
};

extern "C" {
#define F(symbol, parameters) HBF_EXPORTED nvrtcResult symbol parameters;
#include "conformance/emulators/nvidia/nvrtc/functions.inc"
#undef F
HBF_EXPORTED const char *nvrtcGetErrorString(nvrtcResult result);
}

namespace {

enum class Call : size_t {
#define F(symbol, parameters) symbol,
#include "conformance/emulators/nvidia/nvrtc/functions.inc"
#undef F
};
constexpr const char *names[] = {
#define F(symbol, parameters) #symbol,
#include "conformance/emulators/nvidia/nvrtc/functions.inc"
#undef F
};
void count(Call function) {
    static Calls calls("libnvrtc.so.13", names, std::size(names));
    calls.count(static_cast<size_t>(function));
}

constexpr std::array architectures = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121}; // of release 13.0

bool known(int architecture) {
    for (const int one : architectures)
        if (one == architecture) return true;
    return false;
}

// "--gpu-architecture=sm_90" or "compute_90", in each of the forms that the reference has. False: another option.
bool architecture_of(std::string_view option, bool &real, int &number) {
    for (const std::string_view begin : {"--gpu-architecture=", "-gpu-architecture=", "--arch=", "-arch="}) {
        if (!option.starts_with(begin)) continue;
        option.remove_prefix(begin.size());
        real = option.starts_with("sm_");
        if (!real && !option.starts_with("compute_")) return number = 0, true;
        number = std::atoi(std::string(option.substr(option.find('_') + 1)).c_str());
        return true;
    }
    return false;
}

nvrtcResult compile(Program &program, int count_of, const char *const *options) {
    bool real = false;
    int architecture = 75; // reference: the default is compute_75
    program.log.clear();
    for (int i = 0; i < count_of; ++i) {
        if (!options[i] || options[i][0] != '-' ||
            (architecture_of(options[i], real, architecture) && !known(architecture))) {
            program.log = "nvrtc: error: invalid value or option: " + std::string(options[i] ? options[i] : "") + '\n';
            return INVALID_OPTION;
        }
    }
    model::Machine *const machine = model::machine();
    if (machine && machine->faults().fires(model::Fault::compile_fails, -1)) {
        program.log = program.name +
                      "(1): error: emulated failure of the compiler (fault compile-fails)\n\n"
                      "1 error detected in the compilation of \"" +
                      program.name + "\".\n";
        return COMPILATION;
    }
    const std::vector<std::string> found = entries(program.source);
    program.ptx = real ? "" : ptx(architecture, found);
    program.cubin = real ? cubin(architecture, found) : "";
    return SUCCESS;
}

// Size and bytes of a result; text has its end counted.
nvrtcResult size_of(Call function, Program *program, const std::string &bytes, size_t end, size_t *out) {
    count(function);
    if (!program) return INVALID_PROGRAM;
    if (!out) return INVALID_INPUT;
    *out = bytes.empty() && end == 0 ? 0 : bytes.size() + end;
    return SUCCESS;
}
nvrtcResult bytes_of(Call function, Program *program, const std::string &bytes, size_t end, char *out) {
    count(function);
    if (!program) return INVALID_PROGRAM;
    if (!out) return INVALID_INPUT;
    std::memcpy(out, bytes.c_str(), bytes.size() + end);
    return SUCCESS;
}
const std::string &nothing() {
    static const std::string empty;
    return empty;
}

} // namespace

extern "C" {

nvrtcResult nvrtcVersion(int *major, int *minor) {
    count(Call::nvrtcVersion);
    if (!major || !minor) return INVALID_INPUT;
    *major = 13, *minor = 0;
    return SUCCESS;
}

nvrtcResult nvrtcGetNumSupportedArchs(int *out) {
    count(Call::nvrtcGetNumSupportedArchs);
    if (!out) return INVALID_INPUT;
    *out = static_cast<int>(architectures.size());
    return SUCCESS;
}

nvrtcResult nvrtcGetSupportedArchs(int *out) {
    count(Call::nvrtcGetSupportedArchs);
    if (!out) return INVALID_INPUT;
    std::memcpy(out, architectures.data(), sizeof architectures);
    return SUCCESS;
}

nvrtcResult nvrtcCreateProgram(nvrtcProgram *out, const char *source, const char *name, int headers, const char *const *,
                               const char *const *) {
    count(Call::nvrtcCreateProgram);
    if (!out || !source || headers < 0) return INVALID_INPUT;
    try {
        *out = new Program{source, name ? name : "default_program", "", "", ""}; // reference: the name of one without
    } catch (const std::bad_alloc &) {
        return OUT_OF_MEMORY;
    }
    return SUCCESS;
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram *program) {
    count(Call::nvrtcDestroyProgram);
    if (!program || !*program) return INVALID_PROGRAM;
    delete *program;
    *program = nullptr;
    return SUCCESS;
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count_of, const char *const *options) {
    count(Call::nvrtcCompileProgram);
    if (!program) return INVALID_PROGRAM;
    if (count_of < 0 || (count_of > 0 && !options)) return INVALID_INPUT;
    try {
        return compile(*program, count_of, options);
    } catch (const std::bad_alloc &) {
        return OUT_OF_MEMORY;
    }
}

// "The value is set to 0 if the value specified to -arch is a virtual architecture."
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t *out) {
    return size_of(Call::nvrtcGetCUBINSize, program, program ? program->cubin : nothing(), 0, out);
}
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char *out) {
    return bytes_of(Call::nvrtcGetCUBIN, program, program ? program->cubin : nothing(), 0, out);
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t *out) {
    return size_of(Call::nvrtcGetPTXSize, program, program ? program->ptx : nothing(), 1, out);
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char *out) {
    return bytes_of(Call::nvrtcGetPTX, program, program ? program->ptx : nothing(), 1, out);
}
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t *out) {
    return size_of(Call::nvrtcGetProgramLogSize, program, program ? program->log : nothing(), 1, out);
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char *out) {
    return bytes_of(Call::nvrtcGetProgramLog, program, program ? program->log : nothing(), 1, out);
}

const char *nvrtcGetErrorString(nvrtcResult result) {
    switch (result) {
    case SUCCESS:
        return "NVRTC_SUCCESS";
    case OUT_OF_MEMORY:
        return "NVRTC_ERROR_OUT_OF_MEMORY";
    case INVALID_INPUT:
        return "NVRTC_ERROR_INVALID_INPUT";
    case INVALID_PROGRAM:
        return "NVRTC_ERROR_INVALID_PROGRAM";
    case INVALID_OPTION:
        return "NVRTC_ERROR_INVALID_OPTION";
    case COMPILATION:
        return "NVRTC_ERROR_COMPILATION";
    default:
        return "NVRTC_ERROR unknown";
    }
}

} // extern "C"
} // namespace hbf::emulated::nvrtc
