// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/info.hpp"

#include <algorithm>
#include <bit>
#include <cstdio>

#include <fmt/format.h>

#include "plugins/opencl/errors.hpp"

namespace hbf::opencl {
namespace {

constexpr size_t longest = 1 << 20; // bytes of a text that a driver may give

template <class Ask>
std::string text(const Ask &ask, const char *what) {
    size_t size = 0;
    check(ask(0, nullptr, &size), what);
    std::string out(std::min(size, longest), '\0');
    check(ask(out.size(), out.data(), nullptr), what);
    out.resize(std::min(out.find('\0'), out.size()));
    const size_t begin = out.find_first_not_of(' ');
    return begin == std::string::npos ? std::string() : out.substr(begin, out.find_last_not_of(' ') - begin + 1);
}

std::string text(const Functions &cl, cl_platform_id platform, cl_platform_info info, const char *what) {
    return text([&](size_t size, void *to, size_t *needed) { return cl.GetPlatformInfo(platform, info, size, to, needed); },
                what);
}

std::string text(const Functions &cl, cl_device_id device, cl_device_info info, const char *what) {
    return text([&](size_t size, void *to, size_t *needed) { return cl.GetDeviceInfo(device, info, size, to, needed); },
                what);
}

template <class T>
T number(const Functions &cl, cl_device_id device, cl_device_info info, const char *what) {
    T out{};
    check(cl.GetDeviceInfo(device, info, sizeof out, &out, nullptr), what);
    return out;
}

uint64_t power_of_two(uint64_t value, uint64_t otherwise) {
    return std::has_single_bit(value) ? value : otherwise;
}

std::string pci_address(const Functions &cl, cl_device_id device, const DeviceFacts &facts) {
    if (facts.has("cl_khr_pci_bus_info")) {
        cl_device_pci_bus_info_khr at{};
        if (cl.GetDeviceInfo(device, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof at, &at, nullptr) == CL_SUCCESS)
            return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", at.pci_domain, at.pci_bus, at.pci_device, at.pci_function);
    }
    return {};
}

} // namespace

bool DeviceFacts::has(std::string_view extension) const {
    const std::string_view all = extensions;
    for (size_t at = all.find(extension); at != std::string_view::npos; at = all.find(extension, at + 1)) {
        const size_t end = at + extension.size();
        if ((at == 0 || all[at - 1] == ' ') && (end == all.size() || all[end] == ' ')) return true;
    }
    return false;
}

PlatformFacts facts_of(const Functions &cl, cl_platform_id platform) {
    return {text(cl, platform, CL_PLATFORM_NAME, "CL_PLATFORM_NAME"),
            text(cl, platform, CL_PLATFORM_VENDOR, "CL_PLATFORM_VENDOR"),
            text(cl, platform, CL_PLATFORM_VERSION, "CL_PLATFORM_VERSION")};
}

DeviceFacts facts_of(const Functions &cl, cl_device_id device) {
    DeviceFacts facts;
    facts.name = text(cl, device, CL_DEVICE_NAME, "CL_DEVICE_NAME");
    facts.vendor = text(cl, device, CL_DEVICE_VENDOR, "CL_DEVICE_VENDOR");
    facts.driver = text(cl, device, CL_DRIVER_VERSION, "CL_DRIVER_VERSION");
    facts.version = text(cl, device, CL_DEVICE_VERSION, "CL_DEVICE_VERSION");
    facts.extensions = text(cl, device, CL_DEVICE_EXTENSIONS, "CL_DEVICE_EXTENSIONS");
    if (std::sscanf(facts.version.c_str(), "OpenCL %u.%u", &facts.version_major, &facts.version_minor) != 2)
        facts.version_major = 1, facts.version_minor = 0;
    facts.cpu = number<cl_device_type>(cl, device, CL_DEVICE_TYPE, "CL_DEVICE_TYPE") & CL_DEVICE_TYPE_CPU;
    facts.available = number<cl_bool>(cl, device, CL_DEVICE_AVAILABLE, "CL_DEVICE_AVAILABLE");
    facts.compiler = number<cl_bool>(cl, device, CL_DEVICE_COMPILER_AVAILABLE, "CL_DEVICE_COMPILER_AVAILABLE");
    facts.unified = number<cl_bool>(cl, device, CL_DEVICE_HOST_UNIFIED_MEMORY, "CL_DEVICE_HOST_UNIFIED_MEMORY");
    facts.memory = number<cl_ulong>(cl, device, CL_DEVICE_GLOBAL_MEM_SIZE, "CL_DEVICE_GLOBAL_MEM_SIZE");
    facts.largest = number<cl_ulong>(cl, device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, "CL_DEVICE_MAX_MEM_ALLOC_SIZE");
    facts.local = number<cl_ulong>(cl, device, CL_DEVICE_LOCAL_MEM_SIZE, "CL_DEVICE_LOCAL_MEM_SIZE");
    facts.units = number<cl_uint>(cl, device, CL_DEVICE_MAX_COMPUTE_UNITS, "CL_DEVICE_MAX_COMPUTE_UNITS");
    facts.line = power_of_two(
        number<cl_uint>(cl, device, CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, "CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE"), 64);
    facts.alignment =
        power_of_two(number<cl_uint>(cl, device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, "CL_DEVICE_MEM_BASE_ADDR_ALIGN") / 8, 1);
    if (facts.at_least(2, 0)) {
        cl_device_svm_capabilities svm = 0; // a 3.0 device may know none
        if (cl.GetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof svm, &svm, nullptr) == CL_SUCCESS) facts.svm = svm;
    }
    facts.pci_address = pci_address(cl, device, facts);
    return facts;
}

} // namespace hbf::opencl
