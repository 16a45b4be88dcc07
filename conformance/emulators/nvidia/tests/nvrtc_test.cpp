// SPDX-License-Identifier: Apache-2.0
// The emulated compiler: what it writes is taken by the emulated driver, and refused where the real one would refuse.
#include "conformance/emulators/nvidia/nvrtc/api.hpp"
#include "conformance/emulators/nvidia/tests/machine.hpp"
#include "kernels/device/catalogue.hpp"

namespace hbf::emulated::nvrtc {

extern "C" {
#define F(symbol, parameters) nvrtcResult symbol parameters;
#include "conformance/emulators/nvidia/nvrtc/functions.inc"
#undef F
}

namespace {

using cuda::test::begin;
using cuda::test::passes_in_child;

// The image for an architecture, or its log.
std::string compile(const std::string &source, const char *option, nvrtcResult expected) {
    nvrtcProgram program = nullptr;
    EXPECT_EQ(nvrtcCreateProgram(&program, source.c_str(), "k.cu", 0, nullptr, nullptr), SUCCESS);
    const char *options[] = {option, "-fmad=false"};
    EXPECT_EQ(nvrtcCompileProgram(program, 2, options), expected);
    size_t size = 0;
    const bool cubin = std::strstr(option, "sm_") != nullptr;
    if (expected != SUCCESS)
        nvrtcGetProgramLogSize(program, &size);
    else
        cubin ? nvrtcGetCUBINSize(program, &size) : nvrtcGetPTXSize(program, &size);
    std::string bytes(size, '\0');
    if (expected != SUCCESS)
        nvrtcGetProgramLog(program, bytes.data());
    else
        cubin ? nvrtcGetCUBIN(program, bytes.data()) : nvrtcGetPTX(program, bytes.data());
    EXPECT_EQ(nvrtcDestroyProgram(&program), SUCCESS);
    return bytes;
}

TEST(Nvrtc, EveryKernelOfTheCatalogueLoads) {
    passes_in_child("", [] {
        begin();
        for (const char *option : {"--gpu-architecture=sm_90", "-arch=compute_80"})
            for (const kernels::device::Kernel &kernel : kernels::device::catalogue()) {
                const std::string image = compile(std::string(kernel.source), option, SUCCESS);
                cuda::CUmodule module = nullptr;
                cuda::CUfunction function = nullptr;
                ASSERT_EQ(cuda::cuModuleLoadData(&module, image.data()), cuda::SUCCESS) << kernel.name;
                unsigned int count = 0;
                EXPECT_EQ(cuda::cuModuleGetFunctionCount(&count, module), cuda::SUCCESS);
                EXPECT_EQ(count, 1u) << kernel.name;
                EXPECT_EQ(cuda::cuModuleGetFunction(&function, module, std::string(kernel.function).c_str()), cuda::SUCCESS)
                    << kernel.name;
                size_t offset = 0, size = 0;
                EXPECT_EQ(cuda::cuFuncGetParamInfo(function, 2 * kernel.buffer_count, &offset, &size), cuda::SUCCESS);
                EXPECT_EQ(size, kernel.arguments_size) << kernel.name;
            }
    });
}

TEST(Nvrtc, ImagesForAnotherArchitectureAreRefused) {
    passes_in_child("", [] {
        begin();
        const std::string source(kernels::device::catalogue().front().source);
        cuda::CUmodule module = nullptr;
        EXPECT_EQ(cuda::cuModuleLoadData(&module, compile(source, "-arch=sm_80", SUCCESS).data()), cuda::NO_BINARY_FOR_GPU);
        EXPECT_EQ(cuda::cuModuleLoadData(&module, compile(source, "-arch=compute_100", SUCCESS).data()),
                  cuda::NO_BINARY_FOR_GPU);
        EXPECT_NE(compile(source, "-arch=sm_12345", INVALID_OPTION).find("sm_12345"), std::string::npos);
    });
    passes_in_child("compile-fails", [] {
        EXPECT_NE(compile("int x;", "-arch=sm_90", COMPILATION).find("compile-fails"), std::string::npos);
    });
}

} // namespace
} // namespace hbf::emulated::nvrtc
