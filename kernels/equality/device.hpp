// SPDX-License-Identifier: Apache-2.0
// One OpenCL device, on which a kernel is built from its text and launched by hand: no cache, no plugin.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/device/catalogue.hpp"
#include "plugins/opencl/kernels/ability.hpp"

namespace hbf::kernels {

class Device {
public:
    static std::vector<std::unique_ptr<Device>> all(); // throws sdk::Failure where there is no OpenCL

    explicit Device(cl_device_id id);
    ~Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    std::string name() const { return opencl::facts_of(cl_, id_).name; }
    std::string missing(const device::Kernel &kernel) const { return opencl::missing(ability_, kernel); }

    // A built kernel; release with drop(). Throws sdk::Failure with the compiler's words.
    struct Built {
        cl_program program;
        cl_kernel kernel;
    };
    Built build(const device::Kernel &kernel);
    void drop(const Built &built);

    // Launches it over copies of the buffers, each of which begins `offset` bytes into its allocation, and reads them back.
    void launch(const Built &built, std::vector<std::vector<uint8_t>> &buffers, const std::vector<uint8_t> &arguments,
                uint32_t groups, uint32_t group_size, uint64_t offset);

private:
    const opencl::Functions &cl_ = opencl::library();
    cl_device_id id_;
    opencl::Ability ability_;
    cl_context context_ = nullptr;
    cl_command_queue queue_ = nullptr;
};

} // namespace hbf::kernels
