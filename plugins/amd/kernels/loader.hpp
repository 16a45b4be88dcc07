// SPDX-License-Identifier: Apache-2.0
// From the catalogue's kernels to functions of one device: an image that was built with HBF, else hipRTC.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "hbf/sdk/log.hpp"
#include "plugins/amd/device_facts.hpp"
#include "plugins/stream/kernel_table.hpp"

namespace hbf::amd {

class Loader final : public stream::KernelLoader {
public:
    Loader(const DeviceFacts &facts, const sdk::Log &log);
    ~Loader() override;

    std::string device() const override { return facts_.name; }
    std::string missing(const kernels::device::Kernel &kernel) const override;
    stream::LoadedKernel load(const kernels::device::Kernel &kernel) override;

private:
    Function from_image(const kernels::device::Kernel &kernel, std::string &origin);
    Function from_text(const kernels::device::Kernel &kernel, std::string &origin);
    Module load_module(const void *code, Code &result);

    const DeviceFacts facts_;
    const sdk::Log log_;
    const std::string architecture_; // "gfx942:sramecc+:xnack-", ""
    std::mutex mutex_;               // of what follows
    bool image_tried_ = false;
    Module image_ = nullptr;
    std::vector<Module> modules_;
};

} // namespace hbf::amd
