// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/catalogue.hpp"

#include <cstddef>

#include "hbf/abi/command.h"
#include "kernels/device/device_kernels.inc" // made by embed.py: the kernels' headers, and NAME_source for each

namespace hbf::kernels::device {
namespace {

constexpr uint32_t READS = HBF_KERNEL_READS, WRITES = HBF_KERNEL_WRITES;
[[maybe_unused]] constexpr uint32_t UPDATES = HBF_KERNEL_READS | HBF_KERNEL_WRITES;

uint32_t linear(const uint32_t index[3], const uint32_t size[3]) {
    return index[0] + size[0] * (index[1] + size[1] * index[2]);
}

template <class Twin>
void run_group(const TwinBuffer *buffers, const void *bytes, const uint32_t group[3], const uint32_t groups[3],
               const uint32_t group_size[3]) {
    typename Twin::Arguments arguments;
    std::memcpy(&arguments, bytes, sizeof arguments);
    Twin::run(buffers, arguments,
              {linear(group, groups), groups[0] * groups[1] * groups[2], group_size[0] * group_size[1] * group_size[2]});
}

template <uint32_t... access>
constexpr uint32_t access_list[] = {access...};

template <class Twin, uint32_t... access>
constexpr Kernel describe(std::string_view name, std::string_view function, std::string_view source, uint32_t needs) {
    static_assert(Twin::buffer_count == sizeof...(access), "table.inc names each buffer of the kernel");
    static_assert(sizeof(typename Twin::Arguments) % 8 == 0, "devices pad arguments differently");
    return {name,
            function,
            source,
            Twin::buffer_count,
            access_list<access...>,
            sizeof(typename Twin::Arguments),
            Twin::local_size,
            needs,
            &run_group<Twin>};
}

#define KERNEL(name, version, needs, ...)                                                                                   \
    describe<name##_twin, __VA_ARGS__>(#name "/" #version, #name, {name##_source, sizeof name##_source - 1}, needs),
const Kernel kernels[] = {
#include "kernels/device/table.inc"
};
#undef KERNEL

} // namespace

std::span<const Kernel> catalogue() noexcept {
    return kernels;
}

const Kernel *find(std::string_view name) noexcept {
    for (const Kernel &kernel : kernels)
        if (kernel.name == name) return &kernel;
    return nullptr;
}

void run(const Kernel &kernel, const TwinBuffer *buffers, const void *arguments, const uint32_t groups[3],
         const uint32_t group_size[3]) {
    uint32_t group[3];
    for (group[2] = 0; group[2] < groups[2]; ++group[2])
        for (group[1] = 0; group[1] < groups[1]; ++group[1])
            for (group[0] = 0; group[0] < groups[0]; ++group[0])
                kernel.run_group(buffers, arguments, group, groups, group_size);
}

} // namespace hbf::kernels::device
