// SPDX-License-Identifier: Apache-2.0
// A machine for tests: two devices that reach each other, one word changed where a test asks for it.
#pragma once

#include <cstring>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "conformance/sim/model/machine.hpp"

namespace hbf::model::test {

inline std::string profile_text(const std::string &device = "", const std::string &link = "peer = \"works\"",
                                const std::string &top = "") {
    return "name = \"test\"\n" + top +
           "[host]\niommu = \"pt\"\n[[host.nodes]]\nid = 0\ncpus = \"0-3\"\nmemory = \"1 GiB\"\n"
           "[device]\nname = \"Test\"\nvendor = \"generic\"\nmemory = \"64 MiB\"\nreserved = \"1 MiB\"\nline = 64\n"
           "allocation_granularity = 65536\n" +
           device +
           "\n[[devices]]\npci = \"0000:01:00.0\"\n[[devices]]\npci = \"0000:02:00.0\"\n"
           "[[links]]\nbetween = [\"host\", \"device0\"]\nkind = \"pcie\"\ngeneration = 5\nwidth = 16\nbandwidth = \"1 "
           "GB\"\n"
           "[[links]]\nbetween = [\"device0\", \"device1\"]\nkind = \"nvlink\"\nlanes = 2\n" +
           link + "\n";
}

inline std::unique_ptr<Machine> make(const std::string &faults = "", const std::string &text = profile_text(),
                                     uint64_t seed = 1) {
    auto profile = parse_profile(text, "test.toml");
    if (!profile) throw std::runtime_error(profile.error().message);
    auto settings = parse_faults(faults);
    if (!settings) throw std::runtime_error(settings.error().message);
    return std::make_unique<Machine>(std::move(*profile), Machine::Settings{std::move(*settings), seed});
}

// Distinct bytes: no two near ones are alike.
inline std::vector<uint8_t> numbered(uint64_t size, uint64_t from = 1) {
    std::vector<uint8_t> bytes(size);
    for (uint64_t i = 0; i < size; ++i) bytes[i] = static_cast<uint8_t>((i + from) * 0x9e3779b97f4a7c15u >> 56);
    return bytes;
}

inline uint64_t address(const void *at) {
    return reinterpret_cast<uintptr_t>(at);
}

// What a device's memory, or any block, holds.
inline std::vector<uint8_t> held(Machine &machine, uint64_t at, uint64_t size) {
    std::vector<uint8_t> bytes(size);
    if (machine.memory().peek(at, bytes.data(), size) != Outcome::ok) bytes.clear();
    return bytes;
}

inline uint64_t on_device(Machine &machine, int device, const std::vector<uint8_t> &bytes) {
    const Allocation made = machine.memory().allocate_device(device, bytes.size());
    machine.memory().poke(made.address, bytes.data(), bytes.size());
    return made.address;
}

} // namespace hbf::model::test
