// SPDX-License-Identifier: Apache-2.0
// What each kernel's own file says it is to be tried on: so a new kernel is tried here without a line of its own.
#include "conformance/suite/kernels/scenario.hpp"
#include "kernels/device/catalogue.hpp"
#include "kernels/device/device_kernels.inc"
#include "kernels/equality/sample.hpp"

namespace hbf::conformance::scenario {
namespace {

using kernels::device::Sample;

// Nothing, if its file says nothing.
Sample sample_of(std::string_view name) {
    Sample sample;
#define KERNEL(kernel, version, ...)                                                                                        \
    if (name == #kernel "/" #version)                                                                                       \
        [](auto &to) {                                                                                                      \
            if constexpr (requires { kernel##_sample(to); }) kernel##_sample(to);                                           \
        }(sample);
#include "kernels/device/table.inc"
#undef KERNEL
    return sample;
}

bool makes_floats(std::string_view kernel) {
    return kernel.starts_with("attention") || kernel.starts_with("sketch");
}

} // namespace

void samples(std::vector<Scenario> &out, std::string_view kernel, uint32_t most_items) {
    const kernels::device::Kernel *const known = kernels::device::find(kernel);
    const Sample sample = sample_of(kernel);
    if (!known || sample.buffers.size() != known->buffer_count) return;
    for (const auto &[groups, items] : {std::pair(5u, usual_items), std::pair(1u, usual_items)}) {
        Scenario one{"", fmt::format("its sample, {} groups of {}", groups, std::min(items, most_items))};
        for (size_t i = 0; i < sample.buffers.size(); ++i) {
            const bool written = known->access[i] & HBF_KERNEL_WRITES;
            one.buffers.push_back({{}, known->access[i], written && makes_floats(kernel)});
            one.buffers.back().bytes.resize((sample.buffers[i].size() + 7) / 8 * 8);
            std::memcpy(one.buffers.back().bytes.data(), sample.buffers[i].data(), sample.buffers[i].size());
        }
        one.arguments.resize(sample.argument_bytes.size());
        std::memcpy(one.arguments.data(), sample.argument_bytes.data(), one.arguments.size());
        one.groups = {groups, 1, 1};
        one.items = {std::min(items, most_items), 1, 1};
        out.push_back(std::move(one));
    }
}

} // namespace hbf::conformance::scenario
