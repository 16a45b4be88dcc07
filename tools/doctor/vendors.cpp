// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/vendors.hpp"

#include <array>

namespace hbf::tools::doctor {
namespace {

constexpr uint16_t nvidia = 0x10de, amd = 0x1002, intel = 0x8086, cambricon = 0xcabc;

constexpr std::array vendor_table = {
    Vendor{"NVIDIA", nvidia, true, "proc/driver/nvidia/version", "libcuda.so.", "NVLink", "nvidia-smi nvlink --status",
           "nvidia-smi -q -d ECC,ROW_REMAPPER,PAGE_RETIREMENT", "nvidia-smi --query-gpu=mig.mode.current --format=csv"},
    Vendor{"AMD", amd, true, "sys/module/amdgpu/version", "", "xGMI", "amd-smi xgmi", "amd-smi bad-pages",
           "amd-smi partition"},
    Vendor{"Intel", intel, false, "", "", "Xe Link", "xpu-smi topology -m", "xpu-smi stats -d 0 -e", "xpu-smi vgpu -l"},
    Vendor{"Cambricon", cambricon, true, "", "", "MLU-Link", "cnmon mlulink -s", "cnmon info -e", "cnmon mim"},
};

constexpr std::array component_table = {
    Component{"nvidia-open", "driver", nvidia, "proc/driver/nvidia", "", "version", "Open Kernel Module", "Kernel Module"},
    Component{"nvidia-proprietary", "driver", nvidia, "proc/driver/nvidia", "", "version",
              "NVIDIA UNIX x86_64 Kernel Module", "Kernel Module"},
    Component{"nvidia-proprietary", "driver", nvidia, "proc/driver/nvidia", "", "version",
              "NVIDIA UNIX aarch64 Kernel Module", "Kernel Module"},
    Component{"amdgpu-dkms", "driver", amd, "sys/module/amdgpu", "", "version", "", ""},
    Component{"cuda", "runtime", nvidia, "usr/local", "cuda", "version.json", "\"CUDA SDK\"", "\"version\""},
    Component{"rocm", "runtime", amd, "opt", "rocm", ".info/version", "", ""},
};

constexpr std::array variable_table = {
    Variable{"CUDA_VISIBLE_DEVICES", nvidia, true, "device numbers count only what it lists"},
    Variable{"CUDA_DEVICE_ORDER", nvidia, true, "changes which device is number 0"},
    Variable{"CUDA_MPS_PIPE_DIRECTORY", nvidia, false, "work goes through a shared server"},
    Variable{"NVIDIA_VISIBLE_DEVICES", nvidia, true, "the container has only what it lists"},
    Variable{"ROCR_VISIBLE_DEVICES", amd, true, "device numbers count only what it lists"},
    Variable{"HIP_VISIBLE_DEVICES", amd, true, "device numbers count only what it lists"},
    Variable{"HSA_XNACK", amd, false, "managed memory migrates by page faults, or does not"},
    Variable{"HSA_ENABLE_SDMA", amd, false, "0: copies take compute units instead of the copy engines"},
    Variable{"HSA_OVERRIDE_GFX_VERSION", amd, false, "kernels of another device's instruction set are run"},
    Variable{"GPU_MAX_HW_QUEUES", amd, false, "changes how many queues run beside each other"},
    Variable{"ZE_AFFINITY_MASK", intel, true, "device numbers count only what it lists"},
    Variable{"ZE_FLAT_DEVICE_HIERARCHY", intel, true, "tiles are devices of their own, or are not"},
    Variable{"ZES_ENABLE_SYSMAN", intel, false, "management functions in the same process, or not"},
    Variable{"NEOReadDebugKeys", intel, false, "debug keys change how the driver copies and waits"},
    Variable{"MLU_VISIBLE_DEVICES", cambricon, true, "device numbers count only what it lists"},
};

} // namespace

std::span<const Vendor> vendors() {
    return vendor_table;
}

const Vendor *vendor_of(uint16_t pci) {
    for (const Vendor &vendor : vendor_table)
        if (vendor.pci == pci) return &vendor;
    return nullptr;
}

std::span<const Component> components() {
    return component_table;
}

std::span<const Variable> variables() {
    return variable_table;
}

} // namespace hbf::tools::doctor
