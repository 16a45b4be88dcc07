// SPDX-License-Identifier: Apache-2.0
// HIP has one current device a thread. It is the embedding program's: what we make current we give back.
#pragma once

#include "plugins/amd/errors.hpp"
#include "plugins/amd/library.hpp"

namespace hbf::amd {

class OnDevice {
public:
    explicit OnDevice(int device) noexcept : hip_(library().hip) {
        if (hip_.GetDevice(&before_) != code::success) before_ = device;
        code_ = before_ == device ? code::success : taken(hip_.SetDevice(device));
        changed_ = before_ != device;
    }
    ~OnDevice() {
        if (changed_) (void)taken(hip_.SetDevice(before_));
    }
    OnDevice(const OnDevice &) = delete;
    OnDevice &operator=(const OnDevice &) = delete;
    Code code() const { return code_; }

private:
    const Hip &hip_;
    int before_ = 0;
    Code code_ = code::success;
    bool changed_ = false;
};

} // namespace hbf::amd
