// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/crc_kernel.hpp"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/fabric/device_core.hpp"
#include "core/fabric/host_log.hpp"
#include "kernels/device/crc32c.h"

namespace hbf::fabric {
namespace {

using kernels::device::crc32c_arguments;
static_assert(sizeof(crc32c_arguments) == sizeof(uint64_t) && HBF_CRC32C_PIECE == granule_size);

constexpr std::string_view kernel_name = "crc32c/1";

// Best where the CPU can look at them; else where commands copy them out.
std::optional<uint32_t> tier_for_words(const DeviceCore &device, bool mapped) {
    for (const TierInfo &tier : device.tiers) {
        const bool coherent = !tier.domain || device.domains[*tier.domain].hardware;
        if (tier.device_access && (mapped ? tier.cpu_access && coherent : tier.dma_access)) return tier.index;
    }
    return std::nullopt;
}

} // namespace

Result<CrcKernel> find_crc_kernel(const DeviceCore &device) {
    const auto found = device.find_kernel(kernel_name);
    if (!found) return tl::unexpected(found.error());
    CrcKernel crc;
    crc.kernel = found->kernel;
    if (crc.kernel.buffer_count != 2 || crc.kernel.arguments_size != sizeof(crc32c_arguments))
        return fail(Code::invalid,
                    fmt::format("{}: its {} takes {} buffers and {} bytes of arguments, not 2 and {}", device.label(),
                                kernel_name, crc.kernel.buffer_count, crc.kernel.arguments_size, sizeof(crc32c_arguments)));
    for (const bool mapped : {true, false}) {
        // Words that are copied out take a fill before and a copy behind the launch, with a barrier each between.
        if (!mapped && (!device.can_register() || device.queue_info.max_commands < 5)) break;
        if (const auto tier = tier_for_words(device, mapped)) {
            crc.tier = *tier;
            crc.mapped = mapped;
            return crc;
        }
    }
    return fail(Code::unsupported,
                fmt::format("{}: no tier from which the words of {} could be read", device.label(), kernel_name));
}

const CrcKernel *DeviceCore::crc_kernel() {
    std::call_once(crc_once_, [&] {
        auto found = find_crc_kernel(*this);
        if (found)
            crc_ = *found;
        else
            log_line(HBF_LOG_INFO, "fabric",
                     "copies that ask for a check by the device's kernel are read back: " + found.error().message);
    });
    return crc_ ? &*crc_ : nullptr;
}

hbf_launch crc_launch(const CrcKernel &crc, const hbf_kernel_buffer (&buffers)[2], const uint64_t &size) {
    return {crc.kernel.id,
            buffers,
            2,
            &size,
            sizeof(size),
            {static_cast<uint32_t>(granules_in(size)), 1, 1},
            {std::min(crc.kernel.max_group_size, HBF_CRC32C_ITEMS), 1, 1}};
}

} // namespace hbf::fabric
