// SPDX-License-Identifier: Apache-2.0
// What this machine's own files, and NVML, know of NVIDIA's driver where CUDA finds no device: half of it is installed, a
// device belongs to another driver, or is cut into no instance.
#pragma once

#include <string>

namespace hbf::nvidia {

// `root`: where sysfs is looked for, "" is "/". Each answers "" where it knows nothing.

std::string module_release(const std::string &root); // of the kernel's module that is loaded: "580.65.06"
// NVIDIA's devices that another driver of the kernel holds, or none: "0000:3b:00.0 belongs to the kernel driver nouveau".
std::string held_elsewhere(const std::string &root);
// [in a process of its own: NVML starts here] The devices that NVML knows, and which of them are cut into instances (MIG):
// "GPU-..., GPU-... (MIG: it is used by its instances only)".
std::string known_to_nvml();
// The file that a library of that name was opened from, links followed; "" if it is not open.
std::string file_of(const char *library);

} // namespace hbf::nvidia
