// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/kernels/scenario.hpp"

#include <algorithm>

#include "kernels/device/catalogue.hpp"

namespace hbf::conformance {

std::vector<std::string_view> scenario_kernels() {
    std::vector<std::string_view> names;
    for (const auto &kernel : kernels::device::catalogue())
        if (!scenarios_of(kernel.name, 1, 1).empty()) names.push_back(kernel.name);
    return names;
}

std::vector<Scenario> scenarios_of(std::string_view kernel, uint64_t seed, uint32_t most_items) {
    std::vector<Scenario> out;
    scenario::samples(out, kernel, most_items);
    scenario::memory(out, kernel, seed, most_items);
    scenario::patterns(out, kernel, seed, most_items);
    scenario::blocks(out, kernel, seed, most_items);
    for (Scenario &one : out) one.kernel = kernel;
    return out;
}

std::vector<std::vector<std::byte>> run_twin(const Scenario &scenario) {
    std::vector<std::vector<std::byte>> bytes;
    std::vector<kernels::device::TwinBuffer> buffers;
    for (const Scenario::Buffer &buffer : scenario.buffers) bytes.push_back(buffer.bytes);
    for (auto &buffer : bytes) buffers.push_back({buffer.data(), buffer.size()});
    kernels::device::run(*kernels::device::find(scenario.kernel), buffers.data(), scenario.arguments.data(),
                         scenario.groups.data(), scenario.items.data());
    return bytes;
}

OnDevice::OnDevice(Context &context, ByteAccess &access, const Scenario &scenario, const hbf_kernel_info &kernel,
                   uint32_t tier)
    : device_(context.device()), access_(access), scenario_(scenario), regions_(device_), launch_(kernel) {
    for (const Scenario::Buffer &buffer : scenario.buffers) {
        std::vector<std::byte> whole = random_bytes(context.seed() + made_.size(), buffer.bytes.size() + 2 * guard);
        std::copy(buffer.bytes.begin(), buffer.bytes.end(), whole.begin() + guard);
        const hbf_region_info region = regions_.make(tier, whole.size());
        access.write(region, 0, whole);
        launch_.buffer(region.region, guard, buffer.bytes.size(), buffer.access);
        made_.push_back(region);
        before_.push_back(std::move(whole));
    }
    launch_.with(scenario.arguments).shape(scenario.groups, scenario.items);
}

void OnDevice::run(hbf_queue *queue) {
    must_run_first(device_, queue, {launch_.command()});
}

std::vector<std::byte> OnDevice::after(size_t buffer) const {
    return access_.read(made_[buffer], guard, scenario_.buffers[buffer].bytes.size());
}

std::vector<std::byte> OnDevice::whole_after(size_t buffer) const {
    return access_.read(made_[buffer], 0, before_[buffer].size());
}

std::vector<std::byte> random_bytes(uint64_t seed, uint64_t size) {
    std::vector<std::byte> out(size);
    Random random(seed);
    for (uint64_t i = 0; i < size; i += 8) {
        const uint64_t word = random();
        std::memcpy(out.data() + i, &word, std::min<uint64_t>(8, size - i));
    }
    return out;
}

} // namespace hbf::conformance
