// SPDX-License-Identifier: Apache-2.0
// Which device a number is, its memory and its partitions.
#include <cstdio>
#include <string>

#include "conformance/emulators/amd/smi/smi.hpp"

namespace hbf::emulated::smi {
namespace {

rsmi_status_t give_text(char *out, size_t size, const std::string &text) {
    if (size == 0) return INVALID_ARGS;
    std::snprintf(out, size, "%s", text.c_str());
    return text.size() < size ? SUCCESS : INSUFFICIENT_SIZE; // header: "the string will be truncated"
}

} // namespace

extern "C" {

// Header, rsmi_dev_id_get: PCI device id.
rsmi_status_t rsmi_dev_id_get(uint32_t index, uint16_t *out) {
    return of_device(Call::rsmi_dev_id_get, index, out,
                     [&](model::Device &device) { return give(out, device.profile().pci_device); });
}
// Header, rsmi_dev_vendor_id_get.
rsmi_status_t rsmi_dev_vendor_id_get(uint32_t index, uint16_t *out) {
    return of_device(Call::rsmi_dev_vendor_id_get, index, out,
                     [&](model::Device &device) { return give(out, device.profile().pci_vendor); });
}

// Header, rsmi_dev_pci_id_get: domain in bits 32 to 63, then bus, device, function: 8 to 15, 3 to 7, 0 to 2.
rsmi_status_t rsmi_dev_pci_id_get(uint32_t index, uint64_t *out) {
    return of_device(Call::rsmi_dev_pci_id_get, index, out, [&](model::Device &device) -> rsmi_status_t {
        unsigned domain = 0, bus = 0, slot = 0, function = 0;
        if (std::sscanf(device.profile().pci.c_str(), "%x:%x:%x.%x", &domain, &bus, &slot, &function) != 4) return NOT_FOUND;
        return give(out, uint64_t{domain} << 32 | bus << 8 | slot << 3 | function);
    });
}

// Header, rsmi_dev_unique_id_get: the first half of the UUID here.
rsmi_status_t rsmi_dev_unique_id_get(uint32_t index, uint64_t *out) {
    return of_device(Call::rsmi_dev_unique_id_get, index, out, [&](model::Device &device) {
        return give(out, uint64_t{std::strtoull(device.profile().uuid.substr(0, 16).c_str(), nullptr, 16)});
    });
}

// Header, rsmi_dev_name_get.
rsmi_status_t rsmi_dev_name_get(uint32_t index, char *out, size_t size) {
    return of_device(Call::rsmi_dev_name_get, index, out,
                     [&](model::Device &device) { return give_text(out, size, device.name()); });
}

// Header, rsmi_dev_memory_total_get: VRAM, what of it the CPU sees, and GTT, which is the host's.
rsmi_status_t rsmi_dev_memory_total_get(uint32_t index, int type, uint64_t *out) {
    return of_device(Call::rsmi_dev_memory_total_get, index, out, [&](model::Device &device) -> rsmi_status_t {
        switch (type) {
        case VRAM:
            return give(out, machine()->memory().usage(device.index()).total);
        case VISIBLE_VRAM:
            return give(out, uint64_t{device.profile().cpu_access ? device.profile().memory : 256u << 20});
        case GTT:
            return give(out, machine()->memory().usage(model::on_host).total);
        default:
            return INVALID_ARGS;
        }
    });
}
// Header, rsmi_dev_memory_usage_get: bytes in use.
rsmi_status_t rsmi_dev_memory_usage_get(uint32_t index, int type, uint64_t *out) {
    return of_device(Call::rsmi_dev_memory_usage_get, index, out, [&](model::Device &device) -> rsmi_status_t {
        if (type == VISIBLE_VRAM) return NOT_SUPPORTED;
        if (type != VRAM && type != GTT) return INVALID_ARGS;
        const model::Usage usage = machine()->memory().usage(type == VRAM ? device.index() : model::on_host);
        return give(out, usage.total - usage.free);
    });
}

// Header of 5.7, rsmi_dev_memory_partition_get: "NPS1", "NPS2", "NPS4", "NPS8".
rsmi_status_t rsmi_dev_memory_partition_get(uint32_t index, char *out, uint32_t size) {
    return of_device(Call::rsmi_dev_memory_partition_get, index, out,
                     [&](model::Device &device) { return give_text(out, size, device.text("memory_partition", "NPS1")); });
}
// Header of 5.7, rsmi_dev_compute_partition_get: "SPX", "DPX", "TPX", "QPX", "CPX".
rsmi_status_t rsmi_dev_compute_partition_get(uint32_t index, char *out, uint32_t size) {
    return of_device(Call::rsmi_dev_compute_partition_get, index, out,
                     [&](model::Device &device) { return give_text(out, size, device.text("compute_partition", "SPX")); });
}

} // extern "C"
} // namespace hbf::emulated::smi
