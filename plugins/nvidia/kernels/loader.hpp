// SPDX-License-Identifier: Apache-2.0
// The project's kernels on a device: from an image that was compiled with HBF, else by NVRTC when one is first asked for.
#pragma once

#include <mutex>
#include <vector>

#include "hbf/sdk/log.hpp"
#include "plugins/nvidia/context.hpp"
#include "plugins/stream/kernel_table.hpp"

namespace hbf::nvidia {

class KernelImages final : public stream::KernelLoader {
public:
    KernelImages(const Context &context, const sdk::Log &log); // `context` outlives it
    ~KernelImages() override;

    std::string device() const override { return context_.facts.name; }
    std::string missing(const kernels::device::Kernel &kernel) const override;
    stream::LoadedKernel load(const kernels::device::Kernel &kernel) override;

private:
    cuda::Module prebuilt();
    cuda::Module compiled(const kernels::device::Kernel &kernel);
    cuda::Module load_image(const std::string &image, const std::string &what);
    stream::LoadedKernel function_of(cuda::Module module, const kernels::device::Kernel &kernel, std::string origin);

    const Context &context_;
    const sdk::Log log_;
    const int shared_bytes_;
    std::mutex mutex_; // of the following
    std::vector<cuda::Module> modules_;
    cuda::Module prebuilt_ = nullptr; // holds all kernels
    bool prebuilt_failed_ = false;
};

} // namespace hbf::nvidia
