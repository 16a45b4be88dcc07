// SPDX-License-Identifier: Apache-2.0
// What a device says of its kernels: that each it lists is there, and nothing else is.
#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/ranges.h>

#include "conformance/suite/launch.hpp"
#include "kernels/device/catalogue.hpp"

namespace hbf::conformance {
namespace {

bool is_kernel_name(std::string_view name) {
    const size_t slash = name.find('/');
    if (name.size() >= sizeof(hbf_kernel_info::name) || slash == 0 || slash == name.npos || slash + 1 == name.size())
        return false;
    const auto printable = [](char c) { return c > ' ' && c < 0x7f; };
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    const std::string_view plain = name.substr(0, slash), version = name.substr(slash + 1);
    return std::all_of(plain.begin(), plain.end(), printable) && std::all_of(version.begin(), version.end(), digit);
}

// Once as it is found, and once more.
void check_kernel(Context &context, const std::string &name, std::set<uint64_t> &ids) {
    hbf_kernel_info info{}, again{};
    must(find_kernel(context.device(), name, info), "find of {}, which is listed", name);
    context.check(info.kernel != 0, "the kernel {} has the id 0", name);
    context.check(ids.insert(info.kernel).second, "the kernel {} is listed twice, or has the id of another, {:#x}", name,
                  info.kernel);
    const std::string_view told(info.name, strnlen(info.name, sizeof info.name));
    context.check(told == name, "the kernel {} was found, and calls itself {}", name, told);
    context.check(info.max_group_size >= 1, "the kernel {} takes no work-item", name);
    context.check(info.concurrent_groups >= 1, "of the kernel {} no group runs for certain: 1 is the least", name);
    if (const kernels::device::Kernel *const ours = kernels::device::find(name)) {
        context.check(info.buffer_count == ours->buffer_count, "{} takes {} buffers; this device's takes {}", name,
                      ours->buffer_count, info.buffer_count);
        context.check(info.arguments_size == ours->arguments_size, "{} takes {} bytes of arguments; this device's takes {}",
                      name, ours->arguments_size, info.arguments_size);
    }
    must(find_kernel(context.device(), name, again), "find of {} once more", name);
    context.check(again.kernel == info.kernel, "the kernel {} has the id {:#x} at first, then {:#x}", name, info.kernel,
                  again.kernel);
}

HBF_CASE("kernels.find.listed_are_found",
         {.rules = {"HBF-KRN-1", "HBF-KRN-3"},
          .kills = {"kernels_none_listed", "kernels_one_too_many", "kernel_listed_twice", "kernel_listed_not_found",
                    "kernel_past_the_end", "kernel_without_version", "kernel_same_id", "kernel_id_changes", "kernel_no_id",
                    "kernel_other_name", "kernel_more_buffers", "kernel_more_arguments", "kernel_no_items",
                    "kernel_no_groups", "launch_refused_though_declared", "cuda_compiler_fails", "cuda_images_refused",
                    "hip_compiler_fails"},
          .needs = need::launch,
          .limit_s = 400}) { // a device may build each of them now
    Instance &device = context.device();
    const std::vector<std::string> names = kernel_names(device);
    context.check(!names.empty(), "launch is declared, and no kernel is listed");
    std::set<uint64_t> ids;
    for (const std::string &name : names) {
        context.check(is_kernel_name(name), "a kernel is listed as '{}': a name is NAME/VERSION", name);
        check_kernel(context, name, ids);
    }
    const hbf_kernels_ext &table = *device.kernels_table();
    for (const uint32_t index : {table.kernel_count, table.kernel_count + 1, UINT32_MAX}) {
        hbf_string name{};
        ErrorBuffer error;
        context.check_status(error.call(table.name(device.handle(), index, &name, error)), HBF_INVALID,
                             fmt::format("name of kernel {}, of {}", index, table.kernel_count));
    }
    context.note(fmt::format("{} kernels: {}", names.size(), fmt::join(names, ", ")));
}

// Each is like the name of a kernel that there is.
std::vector<std::string> alike(const std::string &name) {
    const std::string plain = name.substr(0, name.find('/'));
    std::string upper = name;
    std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
    return {plain,          plain + '/', plain + "/0", plain + "/999999", name + ' ',
            ' ' + name,     name + "/1", name + '0',   name + '\0',       name + std::string("\0x", 2),
            name.substr(1), upper,       '/' + name,   name.substr(0, 3)};
}

HBF_CASE("kernels.find.unknown_refused",
         {.rules = {"HBF-KRN-1", "HBF-ABI-13"},
          .kills = {"kernel_unknown_ok", "kernel_version_ignored", "kernel_prefix_ok", "kernel_tail_ignored",
                    "kernel_refused_with_id", "kernel_refused_as_internal", "kernel_refused_without_message"},
          .needs = need::launch}) {
    Instance &device = context.device();
    const std::vector<std::string> names = kernel_names(device);
    std::vector<std::string> unknown = {"", "/", "no_such_kernel", "no_such_kernel/1", std::string(300, 'k') + "/1"};
    for (const std::string &name : names)
        for (std::string &other : alike(name)) unknown.push_back(std::move(other));
    for (const std::string &name : unknown) {
        if (std::find(names.begin(), names.end(), name) != names.end()) continue;
        hbf_kernel_info info{};
        info.struct_size = sizeof info;
        info.kernel = 99; // what was there before
        ErrorBuffer error;
        const Call call =
            error.call(device.kernels_table()->find(device.handle(), {name.data(), name.size()}, &info, error));
        context.check_status(call, HBF_UNSUPPORTED, fmt::format("find of '{}', which is not listed", name));
        context.check(info.kernel == 0, "'{}' is refused, and has the id {}", name, info.kernel);
    }
}

} // namespace
} // namespace hbf::conformance
