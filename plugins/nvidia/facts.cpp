// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/facts.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "plugins/nvidia/errors.hpp"

namespace hbf::nvidia {
namespace {

// Sysfs writes four digits of domain and small letters; drivers have written eight, and capitals.
std::string as_sysfs(std::string address) {
    std::transform(address.begin(), address.end(), address.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (address.size() == 16 && address.starts_with("0000")) address.erase(0, 4);
    return address;
}

std::string uuid_text(const cuda::Uuid &uuid) {
    std::string out;
    for (size_t i = 0; i < sizeof uuid.bytes; ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
        out += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
    }
    return out;
}

uint64_t at_least_0(int value) {
    return value > 0 ? static_cast<uint64_t>(value) : 0;
}

} // namespace

int attribute(const Driver &cuda, cuda::Device device, int which, int otherwise) noexcept {
    int value = otherwise;
    return cuda.DeviceGetAttribute(&value, which, device) == cuda::success ? value : otherwise;
}

DeviceFacts read_facts(const Driver &cuda, int ordinal) {
    DeviceFacts out;
    out.ordinal = ordinal;
    check(cuda, cuda.DeviceGet(&out.device, ordinal), "cuDeviceGet");
    char name[256] = {}, address[32] = {};
    check(cuda, cuda.DeviceGetName(name, sizeof name - 1, out.device), "cuDeviceGetName");
    out.name = name;
    size_t bytes = 0;
    check(cuda, cuda.DeviceTotalMem(&bytes, out.device), "cuDeviceTotalMem");
    out.memory = bytes;
    if (cuda.DeviceGetPCIBusId(address, sizeof address - 1, out.device) == cuda::success)
        out.pci_address = as_sysfs(address);
    cuda::Uuid uuid{};
    if (cuda.DeviceGetUuid(&uuid, out.device) == cuda::success) out.uuid = uuid_text(uuid);
    const auto ask = [&](int which, int otherwise = 0) { return attribute(cuda, out.device, which, otherwise); };
    out.major = ask(cuda::major);
    out.minor = ask(cuda::minor);
    out.multiprocessors = ask(cuda::multiprocessors, 1);
    out.copy_engines = ask(cuda::copy_engines);
    out.bus_width = ask(cuda::bus_width);
    out.l2_bytes = at_least_0(ask(cuda::l2_bytes));
    out.max_persisting_l2 = at_least_0(ask(cuda::max_persisting_l2));
    out.max_window = at_least_0(ask(cuda::max_window));
    out.compute_mode = ask(cuda::compute_mode);
    out.host_numa_id = ask(cuda::host_numa_id, -1);
    out.unified_addressing = ask(cuda::unified_addressing) == 1;
    out.virtual_memory = ask(cuda::virtual_memory) == 1;
    out.host_register = ask(cuda::host_register, 1) == 1;
    out.mps = ask(cuda::mps) == 1;
    out.host_page_tables = ask(cuda::host_page_tables) == 1;
    out.host_native_atomics = ask(cuda::host_native_atomics) == 1;
    out.pageable_access = ask(cuda::pageable_access) == 1;
    return out;
}

} // namespace hbf::nvidia
