// SPDX-License-Identifier: Apache-2.0
// The files of sysfs, procfs and /dev that a machine with such hardware would have, below a folder: what the inventory
// reads.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conformance/sim/model/faults.hpp"
#include "conformance/sim/model/profile.hpp"

namespace hbf::tools::emulate {

// A folder of its own, gone when the object is.
class MachineRoot {
public:
    // With what faults do to a machine's own files: a narrow slot, a redirecting bridge.
    static Result<MachineRoot> make(const model::Profile &profile, const std::vector<model::FaultSetting> &faults);
    MachineRoot(MachineRoot &&other) noexcept;
    MachineRoot &operator=(MachineRoot &&) = delete;
    ~MachineRoot();

    const std::filesystem::path &path() const { return path_; }

private:
    explicit MachineRoot(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
};

} // namespace hbf::tools::emulate
