// SPDX-License-Identifier: Apache-2.0
// What is declared is there when it is used; what is there is declared.
#include <vector>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t size = 65536;

// A use that may say anything but that it cannot be done.
void must_be_there(Context &context, const Call &call, std::string_view capability) {
    context.check(call.status != HBF_UNSUPPORTED, "{} is declared, and using it says {}", capability, to_string(call));
}

void cancel(Context &context, const Instance &device) {
    const Queue queue(device);
    const uint64_t value = device.must_submit(queue, {});
    device.must_complete(queue, value);
    const bool declared = device.queue_info().capabilities & HBF_QUEUE_CAP_CANCEL;
    const Call call = device.cancel(queue, value); // HBF_UNSUPPORTED also where the table has no function for it
    if (declared)
        must_be_there(context, call, "cancel");
    else if (call.status != HBF_UNSUPPORTED)
        context.warn_capability(
            fmt::format("cancel is not declared, and says {} instead of HBF_UNSUPPORTED", to_string(call)));
}

void checksum(Context &context, const Instance &device) {
    Regions regions(device);
    const hbf_region_info region = regions.make(device.cpu_tier(), size);
    const Queue queue(device);
    uint32_t crc = 0;
    uint64_t value = 0;
    const Call call = device.submit(queue, {copy_command(region.region, 0, region.region, size / 2, 64, &crc)}, value);
    must_be_there(context, call, "the checksum of a copy");
    if (call.ok()) device.must_complete(queue, value);
}

void registered(Context &context, const Instance &device) {
    std::vector<std::byte> memory(2 * size);
    void *const at = memory.data() + (size - reinterpret_cast<uintptr_t>(memory.data()) % size) % size;
    hbf_region_info region{};
    const Call call = device.register_host(at, size, region);
    must_be_there(context, call, "register_host");
    if (call.ok()) device.must_free(region.region);
}

void exported(Context &context, const Instance &device) {
    const hbf_tier_ext &table = device.tier_table();
    context.check(!table.export_region == !table.import_region, "of export_region and import_region one is NULL");
    if (!table.export_region) return;
    Regions regions(device);
    const hbf_region_info region = regions.make(device.cpu_tier(), size);
    std::vector<std::byte> handle(4096);
    uint64_t bytes = handle.size();
    ErrorBuffer error, second;
    Call call = error.call(table.export_region(device.handle(), region.region, handle.data(), &bytes, error));
    must_be_there(context, call, "export_region");
    if (!call.ok()) return;
    hbf_region_info view{};
    view.struct_size = sizeof view;
    call = second.call(table.import_region(device.handle(), handle.data(), bytes, &view, second));
    must_be_there(context, call, "import_region");
    if (call.ok()) device.must_free(view.region);
}

HBF_CASE("abi.capability.declared_is_there",
         {.rules = {"HBF-ABI-8", "HBF-ABI-12"},
          .kills = {"declares_cancel", "declares_crc", "declares_launch", "declares_register", "declares_export",
                    "declares_health", "half_an_export", "queue_table_missing", "queue_table_short"},
          .needs = need::cpu_tier}) {
    const Instance &device = context.device();
    const uint32_t hidden = context.subject().options().mask;
    if (!(hidden & need::cancel)) cancel(context, device);
    if (device.capabilities() & need::crc) checksum(context, device);
    if (device.capabilities() & need::register_host) registered(context, device);
    if (!(hidden & need::export_import)) exported(context, device);
    if (device.capabilities() & need::health) {
        uint32_t count = 0;
        ErrorBuffer error;
        must_be_there(context, error.call(device.health_table()->read(device.handle(), nullptr, 0, 0, &count, error)),
                      HBF_EXT_HEALTH);
    }
    if (hidden & need::launch) return;
    const bool launch = device.queue_info().capabilities & HBF_QUEUE_CAP_LAUNCH;
    const bool kernels = device.extension(HBF_EXT_KERNELS) != nullptr;
    context.check(!launch || kernels, "launch is declared, and there is no " HBF_EXT_KERNELS);
    if (kernels && !launch) context.warn_capability("there is " HBF_EXT_KERNELS ", and launch is not declared");
}

} // namespace
} // namespace hbf::conformance
