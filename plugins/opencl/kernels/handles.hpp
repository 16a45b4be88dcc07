// SPDX-License-Identifier: Apache-2.0
// cl_program and cl_kernel that release themselves.
#pragma once

#include <utility>

#include "plugins/opencl/library.hpp"

namespace hbf::opencl {

template <class Object, auto Functions::*release>
class Handle {
public:
    Handle() = default;
    Handle(const Functions &cl, Object object) : cl_(&cl), object_(object) {}
    Handle(Handle &&other) noexcept : cl_(other.cl_), object_(std::exchange(other.object_, nullptr)) {}
    Handle &operator=(Handle &&other) noexcept {
        std::swap(cl_, other.cl_);
        std::swap(object_, other.object_);
        return *this;
    }
    ~Handle() {
        if (object_) (cl_->*release)(object_);
    }

    Object get() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }

private:
    const Functions *cl_ = nullptr;
    Object object_ = nullptr;
};

using Program = Handle<cl_program, &Functions::ReleaseProgram>;
using Kernel = Handle<cl_kernel, &Functions::ReleaseKernel>;

} // namespace hbf::opencl
