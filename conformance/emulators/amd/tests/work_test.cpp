// SPDX-License-Identifier: Apache-2.0
// Memory, streams, events, kernels: as HIP documents them, and what each misreading of that changes.
#include <atomic>
#include <cstring>
#include <fstream>
#include <sstream>

#include "conformance/emulators/amd/hip/code_object.hpp"
#include "conformance/emulators/amd/tests/on_machine.hpp"
#include "conformance/sim/model/machine.hpp"
#include "kernels/device/catalogue.hpp"

namespace hbf::emulated::test {
namespace {

using namespace hip;
constexpr size_t size = 1 << 16;

// Holds a stream until it is opened.
class Gate {
public:
    Gate(const Hip &hip, hipStream_t stream) {
        EXPECT_EQ(hip.hipStreamAddCallback(
                      stream,
                      [](hipStream_t, hipError_t, void *open) { static_cast<std::atomic<bool> *>(open)->wait(false); },
                      &open_, 0),
                  hipSuccess);
    }
    void open() {
        open_ = true;
        open_.notify_all();
    }

private:
    std::atomic<bool> open_{false};
};

struct Scene {
    explicit Scene(const Hip &with) : hip(with) {
        EXPECT_EQ(hip.hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
        EXPECT_EQ(hip.hipEventCreateWithFlags(&event, hipEventDisableTiming), hipSuccess);
        EXPECT_EQ(hip.hipMalloc(&device, size), hipSuccess);
        EXPECT_EQ(hip.hipHostMalloc(reinterpret_cast<void **>(&host), size, 0), hipSuccess);
        std::memset(host, 0x11, size);
    }
    std::vector<unsigned char> on_device() const {
        std::vector<unsigned char> bytes(size);
        EXPECT_EQ(hip.hipMemcpy(bytes.data(), device, size, hipMemcpyDeviceToHost), hipSuccess);
        return bytes;
    }
    const Hip &hip;
    hipStream_t stream = nullptr;
    hipEvent_t event = nullptr;
    void *device = nullptr;
    unsigned char *host = nullptr;
};

TEST_P(OnBoth, AsynchronousMeansLater) {
    run({}, [](const Hip &hip) {
        const Scene scene(hip);
        Gate gate(hip, scene.stream);
        ASSERT_EQ(hip.hipMemcpyAsync(scene.device, scene.host, size, hipMemcpyDefault, scene.stream), hipSuccess);
        ASSERT_EQ(hip.hipEventRecord(scene.event, scene.stream), hipSuccess);
        EXPECT_EQ(hip.hipEventQuery(scene.event), hipErrorNotReady);
        EXPECT_EQ(hip.hipStreamQuery(scene.stream), hipErrorNotReady);
        std::memset(scene.host, 0x22, size); // a pinned source is read when the copy runs
        gate.open();
        EXPECT_EQ(hip.hipEventSynchronize(scene.event), hipSuccess);
        EXPECT_EQ(scene.on_device(), std::vector<unsigned char>(size, 0x22));
        EXPECT_EQ(hip.hipGetLastError(), hipSuccess) << "not ready is no error";
    });
}

// The same event, and what a runtime does that counts kernels only.
TEST_P(OnBoth, AnEventThatSkipsCopiesIsOverTooEarly) {
    run(faults("hip-event-skips-copies"), [](const Hip &hip) {
        const Scene scene(hip);
        Gate gate(hip, scene.stream);
        ASSERT_EQ(hip.hipMemcpyAsync(scene.device, scene.host, size, hipMemcpyDefault, scene.stream), hipSuccess);
        ASSERT_EQ(hip.hipEventRecord(scene.event, scene.stream), hipSuccess);
        EXPECT_EQ(hip.hipEventSynchronize(scene.event), hipSuccess);
        EXPECT_EQ(hip.hipStreamQuery(scene.stream), hipErrorNotReady) << "the copy waits still";
        gate.open();
        EXPECT_EQ(hip.hipStreamSynchronize(scene.stream), hipSuccess);
        EXPECT_EQ(hip.hipStreamDestroy(scene.stream), hipSuccess);
    });
}

TEST_P(OnBoth, MemoryThatIsNotPinnedIsCopiedInTheCall) {
    const auto copied = [](const char *fault, unsigned char wanted) {
        run(faults(fault), [&](const Hip &hip) {
            const Scene scene(hip);
            std::vector<unsigned char> bytes(size, 0x33);
            for (int round = 0; round < 50; ++round) {
                bytes.assign(size, 0x33);
                ASSERT_EQ(hip.hipMemcpyAsync(scene.device, bytes.data(), size, hipMemcpyDefault, scene.stream), hipSuccess);
                bytes.assign(size, 0x44);
                ASSERT_EQ(hip.hipStreamSynchronize(scene.stream), hipSuccess);
                if (scene.on_device() != std::vector<unsigned char>(size, 0x33)) break;
            }
            EXPECT_EQ(scene.on_device().back(), wanted);
        });
    };
    copied("", 0x33);
    copied("hip-pageable-late;late-completion:value=20", 0x44);
}

TEST_P(OnBoth, TypesOfMemoryHaveTheNumbersOfTheRelease) {
    const bool newer = GetParam().major == 6;
    run({}, [&](const Hip &hip) {
        const Scene scene(hip);
        hipPointerAttribute_t of{};
        ASSERT_EQ(hip.hipPointerGetAttributes(&of, static_cast<char *>(scene.device) + 100), hipSuccess);
        EXPECT_EQ(of.type, newer ? 2 : 1);
        EXPECT_EQ(of.device_pointer, static_cast<char *>(scene.device) + 100);
        EXPECT_EQ(of.host_pointer, nullptr);
        ASSERT_EQ(hip.hipPointerGetAttributes(&of, scene.host), hipSuccess);
        EXPECT_EQ(of.type, newer ? 1 : 0);
        int own = 0;
        EXPECT_EQ(hip.hipPointerGetAttributes(&of, &own), newer ? hipSuccess : hipErrorInvalidValue);
        if (newer) {
            EXPECT_EQ(of.type, 0) << "unregistered";
        }
    });
}

TEST_P(OnBoth, CoherenceIsSaidAsItWasAskedFor) {
    const auto mode = [](const Hip &hip, const void *at) {
        int value = -1;
        EXPECT_EQ(hip.hipMemRangeGetAttribute(&value, sizeof value, RANGE_COHERENCY_MODE, at, 64), hipSuccess);
        return value;
    };
    const auto kept = [](const void *at) {
        return model::machine()->memory().find(reinterpret_cast<uintptr_t>(at))->coherence;
    };
    run({}, [&](const Hip &hip) {
        const Scene scene(hip);
        void *coarse = nullptr, *fine = nullptr;
        EXPECT_EQ(hip.hipHostMalloc(&coarse, size, hipHostMallocNonCoherent | hipHostMallocCoherent), hipErrorInvalidValue);
        ASSERT_EQ(hip.hipHostMalloc(&coarse, size, hipHostMallocNonCoherent), hipSuccess);
        ASSERT_EQ(hip.hipExtMallocWithFlags(&fine, size, hipDeviceMallocFinegrained), hipSuccess);
        EXPECT_EQ(mode(hip, scene.host), FINE_GRAIN);
        EXPECT_EQ(mode(hip, coarse), COARSE_GRAIN);
        EXPECT_EQ(mode(hip, scene.device), COARSE_GRAIN);
        EXPECT_EQ(mode(hip, fine), FINE_GRAIN);
        EXPECT_EQ(kept(scene.host), model::Coherence::hardware);
        EXPECT_EQ(kept(coarse), model::Coherence::boundary);
        EXPECT_EQ(hip.hipExtMallocWithFlags(&fine, size, 3), GetParam().major == 6 ? hipSuccess : hipErrorInvalidValue);
    });
    const auto lies = [&](const char *fault, model::Coherence wanted) {
        run(faults(fault), [&](const Hip &hip) {
            const Scene scene(hip);
            EXPECT_EQ(mode(hip, scene.host), FINE_GRAIN) << "it lies";
            EXPECT_EQ(kept(scene.host), wanted);
        });
    };
    lies("hip-fine-is-coarse", model::Coherence::boundary);
    lies("coherence-lies", model::Coherence::software);
}

TEST_P(OnBoth, MistakesAreSaidInTheCall) {
    run({}, [](const Hip &hip) {
        const Scene scene(hip);
        EXPECT_EQ(hip.hipMemcpyAsync(scene.device, scene.host, size, 7, scene.stream), hipErrorInvalidMemcpyDirection);
        EXPECT_EQ(hip.hipMemcpyAsync(nullptr, scene.host, size, hipMemcpyDefault, scene.stream), hipErrorInvalidValue);
        EXPECT_EQ(hip.hipMemcpyAsync(scene.device, scene.host, size + 1, hipMemcpyDefault, scene.stream),
                  hipErrorInvalidValue);
        EXPECT_EQ(hip.hipMemcpyAsync(scene.device, scene.host, 0, hipMemcpyDefault, scene.stream), hipSuccess);
        EXPECT_EQ(hip.hipMemsetAsync(scene.device, 1, size + 1, scene.stream), hipErrorInvalidValue);
        EXPECT_EQ(hip.hipFree(static_cast<char *>(scene.device) + 1), hipErrorInvalidValue);
        EXPECT_EQ(hip.hipFree(scene.host), hipErrorInvalidDevicePointer);
        EXPECT_EQ(hip.hipHostFree(scene.device), hipErrorInvalidValue);
        EXPECT_EQ(hip.hipFree(nullptr), hipSuccess);
        EXPECT_EQ(hip.hipFree(scene.device), hipSuccess);
        EXPECT_EQ(hip.hipFree(scene.device), hipErrorInvalidValue) << "a second time";
        std::vector<char> own(1 << 20);
        EXPECT_EQ(hip.hipHostRegister(own.data(), own.size(), hipHostRegisterMapped), hipSuccess);
        EXPECT_EQ(hip.hipHostRegister(own.data(), own.size(), 0), hipErrorHostMemoryAlreadyRegistered);
        EXPECT_EQ(hip.hipHostUnregister(own.data()), hipSuccess);
        EXPECT_EQ(hip.hipHostUnregister(own.data()), hipErrorHostMemoryNotRegistered);
        EXPECT_EQ(hip.hipStreamQuery(reinterpret_cast<hipStream_t>(&own)), hipErrorInvalidHandle);
        EXPECT_EQ(hip.hipEventQuery(reinterpret_cast<hipEvent_t>(&own)), hipErrorInvalidHandle);
        EXPECT_EQ(hip.hipStreamDestroy(nullptr), hipErrorInvalidHandle);
        hipStream_t none = nullptr;
        EXPECT_EQ(hip.hipStreamCreateWithFlags(&none, 2), hipErrorInvalidValue);
    });
}

TEST_P(OnBoth, FillsRepeatTheirValue) {
    run({}, [](const Hip &hip) {
        const Scene scene(hip);
        EXPECT_EQ(hip.hipMemsetD32Async(scene.device, 0x04030201, size / 4, scene.stream), hipSuccess);
        EXPECT_EQ(hip.hipMemsetD16Async(scene.device, 0x0605, 2, scene.stream), hipSuccess);
        EXPECT_EQ(hip.hipMemsetAsync(scene.device, 0x107, 1, scene.stream), hipSuccess);
        EXPECT_EQ(hip.hipStreamSynchronize(scene.stream), hipSuccess);
        const std::vector<unsigned char> bytes = scene.on_device();
        EXPECT_EQ(std::vector<unsigned char>(bytes.begin(), bytes.begin() + 6),
                  (std::vector<unsigned char>{7, 6, 5, 6, 1, 2}));
        EXPECT_EQ(bytes.back(), 4);
    });
}

TEST_P(OnBoth, MemoryRunsOut) {
    run(faults("oom:after=1"), [](const Hip &hip) {
        void *first = nullptr, *second = nullptr;
        EXPECT_EQ(hip.hipMalloc(&first, size), hipSuccess);
        EXPECT_EQ(hip.hipMalloc(&second, size), hipErrorOutOfMemory);
        EXPECT_EQ(second, nullptr);
        EXPECT_EQ(hip.hipMalloc(&second, size_t{1} << 50), hipErrorOutOfMemory);
    });
}

TEST_P(OnBoth, ALostDeviceStaysLost) {
    run(faults("lost-device:after=1,device=0"), [](const Hip &hip) {
        const Scene scene(hip);
        (void)hip.hipMemcpyAsync(scene.device, scene.host, size, hipMemcpyDefault, scene.stream);
        (void)hip.hipMemcpyAsync(scene.device, scene.host, size, hipMemcpyDefault, scene.stream);
        EXPECT_EQ(hip.hipStreamSynchronize(scene.stream), hipErrorRuntimeOther);
        EXPECT_EQ(hip.hipMemcpyAsync(scene.device, scene.host, size, hipMemcpyDefault, scene.stream), hipErrorRuntimeOther);
        void *more = nullptr;
        EXPECT_EQ(hip.hipMalloc(&more, size), hipErrorRuntimeOther);
        EXPECT_EQ(hip.hipDeviceReset(), hipErrorRuntimeOther);
        EXPECT_EQ(hip.hipSetDevice(1), hipSuccess);
        EXPECT_EQ(hip.hipMalloc(&more, size), hipSuccess) << "the other one lives";
    });
}

TEST_P(OnBoth, AFailedCopyShowsInEventStreamAndCallback) {
    run(faults("ecc"), [](const Hip &hip) {
        const Scene scene(hip);
        std::atomic<int> told = -1;
        Gate gate(hip, scene.stream); // else the device may be broken before all is submitted
        EXPECT_EQ(hip.hipMemcpyAsync(scene.host, scene.device, size, hipMemcpyDefault, scene.stream), hipSuccess);
        EXPECT_EQ(hip.hipStreamAddCallback(
                      scene.stream,
                      [](hipStream_t, hipError_t status, void *out) {
                          auto &to = *static_cast<std::atomic<int> *>(out);
                          to = status;
                          to.notify_all();
                      },
                      &told, 0),
                  hipSuccess);
        EXPECT_EQ(hip.hipEventRecord(scene.event, scene.stream), hipSuccess);
        gate.open();
        EXPECT_EQ(hip.hipEventSynchronize(scene.event), hipErrorECCNotCorrectable);
        EXPECT_EQ(hip.hipStreamSynchronize(scene.stream), hipErrorECCNotCorrectable);
        told.wait(-1); // it comes once the stream has said so
        EXPECT_EQ(told, hipErrorECCNotCorrectable) << "the callback was called all the same";
        void *more = nullptr;
        EXPECT_EQ(hip.hipMalloc(&more, size), hipErrorECCNotCorrectable) << "what broke the device is told by all";
        EXPECT_EQ(hip.hipDeviceReset(), hipSuccess);
        EXPECT_EQ(hip.hipMalloc(&more, size), hipSuccess);
    });
}

TEST_P(OnBoth, WhatIsNotDoneSaysSoAndIsCounted) {
    const std::string counts = testing::TempDir() + "/hip_counts_" + std::to_string(::getpid());
    run({{"HBF_EMULATE_COUNTS", counts}}, [](const Hip &hip) {
        const auto graph = reinterpret_cast<hipError_t (*)(void **, unsigned)>(::dlsym(hip.handle, "hipGraphCreate"));
        ASSERT_NE(graph, nullptr);
        void *out = nullptr;
        EXPECT_EQ(graph(&out, 0), hipErrorNotSupported);
        EXPECT_EQ(hip.hipGetLastError(), hipErrorNotSupported);
    });
    std::ifstream file(counts);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const std::string library = GetParam().major == 6 ? "libamdhip64.so.6" : "libamdhip64.so.5";
    EXPECT_NE(text.find(library + " hipGraphCreate unsupported 1\n"), std::string::npos) << text;
    EXPECT_NE(text.find(library + " hipGetLastError called 1\n"), std::string::npos) << text;
    ::unlink(counts.c_str());
}

// Built at run time, loaded, launched: the project's copy kernel.
struct Copy {
    static const kernels::device::Kernel &kernel() { return *kernels::device::find("copy/1"); }
    static hiprtcResult build(const Hip &hip, const std::string &source, const char *option, std::string &out) {
        hiprtcProgram program = nullptr;
        EXPECT_EQ(hip.hiprtcCreateProgram(&program, source.c_str(), "copy.hip", 0, nullptr, nullptr), RTC_SUCCESS);
        const hiprtcResult result = hip.hiprtcCompileProgram(program, 1, &option);
        size_t bytes = 0;
        if (result == RTC_SUCCESS) {
            EXPECT_EQ(hip.hiprtcGetCodeSize(program, &bytes), RTC_SUCCESS);
            out.resize(bytes);
            EXPECT_EQ(hip.hiprtcGetCode(program, out.data()), RTC_SUCCESS);
        } else {
            EXPECT_EQ(hip.hiprtcGetProgramLogSize(program, &bytes), RTC_SUCCESS);
            out.resize(bytes);
            EXPECT_EQ(hip.hiprtcGetProgramLog(program, out.data()), RTC_SUCCESS);
        }
        EXPECT_EQ(hip.hiprtcDestroyProgram(&program), RTC_SUCCESS);
        return result;
    }
};

TEST_P(OnBoth, AKernelIsBuiltLoadedAndRun) {
    run({}, [](const Hip &hip) {
        const Scene scene(hip);
        std::string code;
        ASSERT_EQ(Copy::build(hip, std::string(Copy::kernel().source), "--offload-arch=gfx942:sramecc+:xnack-", code),
                  RTC_SUCCESS);
        hipModule_t module = nullptr;
        hipFunction_t function = nullptr;
        ASSERT_EQ(hip.hipModuleLoadData(&module, code.data()), hipSuccess);
        EXPECT_EQ(hip.hipModuleGetFunction(&function, module, "triad"), hipErrorNotFound);
        ASSERT_EQ(hip.hipModuleGetFunction(&function, module, "copy"), hipSuccess);
        int threads = 0;
        EXPECT_EQ(hip.hipFuncGetAttribute(&threads, FUNC_MAX_THREADS, function), hipSuccess);
        EXPECT_EQ(threads, 1024);
        for (size_t i = 0; i < size; ++i) scene.host[i] = static_cast<unsigned char>(i * 7 >> 3);
        void *from = scene.host, *to = scene.device;
        uint64_t offset = 8, none = 0, bytes = size - 16;
        void *parameters[] = {&from, &offset, &to, &none, &bytes};
        ASSERT_EQ(hip.hipMemset(scene.device, 0xee, size), hipSuccess);
        EXPECT_EQ(hip.hipModuleLaunchKernel(function, 4, 1, 1, 2048, 1, 1, 0, scene.stream, parameters, nullptr),
                  hipErrorInvalidConfiguration);
        ASSERT_EQ(hip.hipModuleLaunchKernel(function, 4, 1, 1, 64, 1, 1, 0, scene.stream, parameters, nullptr), hipSuccess);
        ASSERT_EQ(hip.hipStreamSynchronize(scene.stream), hipSuccess);
        std::vector<unsigned char> copied = scene.on_device();
        EXPECT_EQ(std::memcmp(copied.data(), scene.host + 8, bytes), 0);
        EXPECT_EQ(copied[bytes], 0xee);
        // The same with all parameters in one block.
        uint64_t block[] = {reinterpret_cast<uintptr_t>(from), 0, reinterpret_cast<uintptr_t>(to), 0, size};
        size_t block_size = sizeof block;
        void *extra[] = {reinterpret_cast<void *>(1), block, reinterpret_cast<void *>(2), &block_size,
                         reinterpret_cast<void *>(3)};
        ASSERT_EQ(hip.hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, scene.stream, nullptr, extra), hipSuccess);
        ASSERT_EQ(hip.hipStreamSynchronize(scene.stream), hipSuccess);
        copied = scene.on_device();
        EXPECT_EQ(std::memcmp(copied.data(), scene.host, size), 0);
        EXPECT_EQ(hip.hipModuleUnload(module), hipSuccess);
        EXPECT_EQ(hip.hipModuleUnload(module), hipErrorInvalidHandle);
        EXPECT_EQ(hip.hipModuleLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, scene.stream, parameters, nullptr),
                  hipErrorInvalidHandle);
    });
}

TEST_P(OnBoth, ImagesThatAreNotForIt) {
    run({}, [](const Hip &hip) {
        hipModule_t module = nullptr;
        const std::string garbage(4096, 'x');
        EXPECT_EQ(hip.hipModuleLoadData(&module, garbage.data()), hipErrorInvalidImage);
        std::string code;
        ASSERT_EQ(Copy::build(hip, std::string(Copy::kernel().source), "--offload-arch=gfx90a", code), RTC_SUCCESS);
        EXPECT_EQ(hip.hipModuleLoadData(&module, code.data()), hipErrorNoBinaryForGpu);
        std::string log;
        EXPECT_EQ(Copy::build(hip, "int main() {}", "--offload-arch=gfx942", log), RTC_COMPILATION);
        EXPECT_NE(log.find("copy.hip:1:1: error: "), std::string::npos) << log;
        EXPECT_EQ(Copy::build(hip, std::string(Copy::kernel().source), "--offload-arch=gfx1", log), RTC_COMPILATION);
        EXPECT_NE(log.find("gfx1"), std::string::npos) << log;
    });
    run(faults("image-refused"), [](const Hip &hip) {
        hipModule_t module = nullptr;
        std::string code;
        ASSERT_EQ(Copy::build(hip, std::string(Copy::kernel().source), "--offload-arch=gfx942", code), RTC_SUCCESS);
        EXPECT_EQ(hip.hipModuleLoadData(&module, code.data()), hipErrorNoBinaryForGpu);
    });
    run(faults("compile-fails"), [](const Hip &hip) {
        std::string log;
        EXPECT_EQ(Copy::build(hip, std::string(Copy::kernel().source), "--offload-arch=gfx942", log), RTC_COMPILATION);
    });
}

TEST(CodeObject, CutShortOrBentIsNone) {
    const std::string names[] = {"a", "b"};
    std::string whole = make_code_object("gfx942", names);
    CodeObject out;
    ASSERT_TRUE(read_code_object(whole.data(), out));
    EXPECT_EQ(out.processor, "gfx942");
    EXPECT_EQ(out.kernels, (std::vector<std::string>{"a", "b"}));
    EXPECT_TRUE(make_code_object("gfx1", names).empty());
    std::string bent = whole;
    bent[18] = 62; // x86-64
    EXPECT_FALSE(read_code_object(bent.data(), out));
    bent = whole;
    std::memset(bent.data() + 40, 0xff, 8); // where its sections are
    EXPECT_FALSE(read_code_object(bent.data(), out));
    bent = whole;
    bent.back() = 'x'; // names that do not end
    CodeObject none;
    EXPECT_TRUE(read_code_object(bent.data(), none));
    EXPECT_TRUE(none.kernels.empty());
}

} // namespace
} // namespace hbf::emulated::test
