// SPDX-License-Identifier: Apache-2.0
// Runtimes and devices that cannot be used. The suite has to fail there, and what it says must have the cause in it: the
// reason by which `hbf probe --explain` names it, or the runtime's own words.
#include <initializer_list>
#include <iterator>

#include "conformance/mutants/catalogue/emulated.hpp"

namespace hbf::conformance::catalogue {
namespace {

struct Unusable {
    std::string_view name, description, fault, says;
};
void add_unusable(std::vector<Mutant> &out, Mutant (*on)(Mutant), std::initializer_list<Unusable> all) {
    for (const Unusable &one : all)
        out.push_back(on({.name = one.name,
                          .description = one.description,
                          .fault = one.fault,
                          .killers = {"lifecycle.probe.bounded_time"},
                          .says = one.says}));
}

void add_nvidia(std::vector<Mutant> &out) {
    add_unusable(
        out, on_a100,
        {{"cuda_init_fails", "cuInit fails", "init-fails", "cuInit"},
         {"cuda_init_crashes", "the process dies in cuInit", "init-crashes", "SIGSEGV"},
         {"cuda_init_hangs", "cuInit does not return", "init-hangs", "no_device: the CUDA driver"},
         {"cuda_init_denied", "cuInit may not open the device", "init-permission", "permission_denied"},
         {"cuda_too_old", "the driver is older than any that is supported", "old-driver", "driver_too_old"},
         {"cuda_garbage_version", "the driver's version is nonsense", "garbage-version", "no version"},
         {"cuda_lacks_a_function", "the driver lacks a function that is needed", "missing-symbol", "cuStreamWaitEvent"},
         {"cuda_is_a_stub", "the driver's library is the one for building", "stub-library", "driver_stub"},
         {"cuda_without_devices", "the driver starts and has no device", "no-device", "no_device"}});
    const Mutant all[] = {
        on_a100({.name = "cuda_device_lost",
                 .description = "the device is gone in the middle of the work",
                 .fault = "lost-device:after=12",
                 .killers = {"dma.copy.d2d.same_tier"},
                 .verdict = Status::device_lost}),
        on_a100({.name = "cuda_out_of_memory",
                 .description = "the device has no memory for the third region",
                 .fault = "oom:after=2",
                 .killers = {"tier.alloc.regions_do_not_overlap"},
                 .says = "CUDA_ERROR_OUT_OF_MEMORY"}),
        on_a100({.name = "cuda_coherence_lies",
                 .description = "host memory is said to be coherent, and is kept by software",
                 .fault = "coherence-lies", // from the start, so that the plugin refuses the device
                 .killers = {"dma.copy.random_ranges_against_model"},
                 .says = "device and CPU see the same"}),
        on_a100({.name = "cuda_launch_fails",
                 .description = "a launch runs half and says that it failed",
                 .fault = "launch-fails",
                 .killers = {"kernels.copy.same_as_engine"},
                 .verdict = Status::device_lost}),
        on_a100({.name = "cuda_images_refused",
                 .description = "every kernel image is for another architecture",
                 .fault = "image-refused",
                 .killers = {"kernels.find.listed_are_found"}}),
        on_a100({.name = "cuda_compiler_fails",
                 .description = "kernel images are for another architecture, and compilation at run time fails",
                 .fault = "compile-fails;image-refused",
                 .killers = {"kernels.find.listed_are_found"}}),
    };
    out.insert(out.end(), std::begin(all), std::end(all));
}

void add_amd(std::vector<Mutant> &out) {
    add_unusable(out, on_mi300x,
                 {{"hip_init_fails", "hipInit fails", "init-fails", "hipInit"},
                  {"hip_init_crashes", "the process dies in hipInit", "init-crashes", "SIGSEGV"},
                  {"hip_init_hangs", "hipInit does not return", "init-hangs", "did not answer within"},
                  {"hip_init_denied", "hipInit may not open the device", "init-permission", "driver_absent"},
                  {"hip_too_old", "the runtime is older than any that is supported", "old-driver", "driver_too_old"},
                  {"hip_garbage_version", "the runtime's version is nonsense", "garbage-version", "no version"},
                  {"hip_is_a_stub", "the runtime's library is one for building", "stub-library", "driver_stub"},
                  {"hip_without_devices", "the runtime starts and has no device", "no-device", "driver_absent"}});
    const Mutant all[] = {
        on_mi300x({.name = "hip_device_lost",
                   .description = "the device is gone in the middle of the work",
                   .fault = "lost-device:after=60",
                   .killers = {"dma.copy.random_ranges_against_model"},
                   .verdict = Status::device_lost}),
        on_mi300x({.name = "hip_out_of_memory",
                   .description = "the device has no memory for the next region",
                   .fault = "oom:after=6",
                   .killers = {"tier.alloc.regions_do_not_overlap"},
                   .says = "hipErrorOutOfMemory"}),
        on_mi300x({.name = "hip_coherence_lies",
                   .description = "host memory is said to be coherent, and is kept by software",
                   .fault = "coherence-lies",
                   .killers = {"dma.copy.random_ranges_against_model"}}),
        on_mi300x({.name = "hip_compiler_fails",
                   .description = "compilation at run time fails, and no image fits",
                   .fault = "compile-fails;image-refused",
                   .killers = {"kernels.find.listed_are_found"}}),
    };
    out.insert(out.end(), std::begin(all), std::end(all));
}

void add_cambricon(std::vector<Mutant> &out) {
    add_unusable(
        out, on_mlu370,
        {{"cnrt_init_fails", "the runtime does not start", "init-fails", "driver_absent"},
         {"cnrt_init_crashes", "the process dies when the runtime starts", "init-crashes", "SIGSEGV"},
         {"cnrt_init_hangs", "the runtime does not come back from its start", "init-hangs", "did not answer in time"},
         {"cnrt_init_denied", "the runtime may not open the device", "init-permission", "permission_denied"},
         {"cnrt_too_old", "the runtime is older than any that is supported", "old-driver", "driver_too_old"},
         {"cnrt_garbage_version", "the runtime's version is nonsense", "garbage-version", "no version"},
         {"cnrt_is_a_stub", "the runtime's library is one for building", "stub-library", "driver_stub"},
         {"cnrt_without_devices", "the runtime starts and has no device", "no-device", "no_device"}});
    const Mutant all[] = {
        on_mlu370({.name = "cnrt_device_lost",
                   .description = "the device is gone in the middle of the work",
                   .fault = "lost-device:after=12",
                   .killers = {"dma.copy.d2d.same_tier"},
                   .verdict = Status::device_lost}),
        on_mlu370({.name = "cnrt_out_of_memory",
                   .description = "the device has no memory for the third region",
                   .fault = "oom:after=2",
                   .killers = {"tier.alloc.regions_do_not_overlap"}}),
    };
    out.insert(out.end(), std::begin(all), std::end(all));
}

void add_level_zero(std::vector<Mutant> &out) {
    add_unusable(out, on_l0,
                 {{"ze_init_fails", "zeInit fails", "init-fails", "driver_absent"},
                  {"ze_init_crashes", "the process dies in zeInit", "init-crashes", "SIGSEGV"},
                  {"ze_init_denied", "zeInit may not open the device", "init-permission", "permission_denied"},
                  {"ze_too_old", "the driver is older than any that is supported", "old-driver", "driver_too_old"},
                  {"ze_garbage_version", "the driver's version is nonsense", "garbage-version", "does not exist"},
                  {"ze_is_a_stub", "the driver says yes to everything", "stub-library", "driver_stub"},
                  {"ze_without_devices", "the driver starts and has no device", "no-device", "driver_absent"}});
}

} // namespace

void add_bad_runtimes(std::vector<Mutant> &out) {
    add_nvidia(out);
    add_amd(out);
    add_cambricon(out);
    add_level_zero(out);
}

} // namespace hbf::conformance::catalogue
