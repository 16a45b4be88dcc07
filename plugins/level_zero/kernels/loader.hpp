// SPDX-License-Identifier: Apache-2.0
// The project's kernels on a Level Zero device: one SPIR-V module with all of them, which the driver compiles when the first
// is asked for.
#pragma once

#include <mutex>
#include <string_view>
#include <vector>

#include "hbf/sdk/log.hpp"
#include "plugins/level_zero/context.hpp"
#include "plugins/stream/kernel_table.hpp"

namespace hbf::level_zero {

struct LoadedModule {
    size_t index = 0; // in the catalogue
    ze::Module module = nullptr;
    std::string function;
};

// SPIR-V of all kernels, made when this was built; empty where there was no compiler for it.
std::string_view spirv_image() noexcept;

// [any thread]
class KernelModules final : public stream::KernelLoader {
public:
    KernelModules(const Context &context, const sdk::Log &log); // outlived by `context`
    ~KernelModules() override;
    KernelModules(const KernelModules &) = delete;
    KernelModules &operator=(const KernelModules &) = delete;

    std::string device() const override { return context_.facts.name; }
    std::string missing(const kernels::device::Kernel &kernel) const override;
    stream::LoadedKernel load(const kernels::device::Kernel &kernel) override;

    size_t count() const { return loaded_.size(); }
    ze::Result make_kernel(const LoadedModule &loaded, ze::Kernel &out) const noexcept;

private:
    ze::Module module(); // built once; throws
    uint32_t concurrent_groups(ze::Kernel kernel, uint32_t items) const;

    const Context &context_;
    const sdk::Log log_;
    std::mutex mutex_;
    ze::Module module_ = nullptr;
    std::vector<LoadedModule> loaded_; // a place in the catalogue each
};

} // namespace hbf::level_zero
