// SPDX-License-Identifier: Apache-2.0
// CNRT works on the calling thread's current device. A thread is the host's: what it had is set again at the end.
#pragma once

#include "plugins/cambricon/api.hpp"

namespace hbf::cambricon {

// They nest. A refusal of the device shows in the calls in between, which then answer as for a device that is gone.
void enter_device(const Cnrt &cnrt, int ordinal) noexcept;
void leave_device(const Cnrt &cnrt) noexcept;

class OnDevice {
public:
    OnDevice(const Cnrt &cnrt, int ordinal) noexcept : cnrt_(cnrt) { enter_device(cnrt, ordinal); }
    ~OnDevice() { leave_device(cnrt_); }
    OnDevice(const OnDevice &) = delete;
    OnDevice &operator=(const OnDevice &) = delete;

private:
    const Cnrt &cnrt_;
};

} // namespace hbf::cambricon
