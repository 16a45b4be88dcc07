// SPDX-License-Identifier: Apache-2.0
// A device that can be asked to have an uncorrectable error offers that as an option of create, so that nothing in the ABI
// speaks of it: test.uncorrectable=N, "the N-th copy of the instance meets an uncorrectable error".
#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t region_size = 64u << 10;

uint64_t counted(const Instance &device) {
    uint64_t sum = 0;
    for (const auto &reading : device.must_read_health())
        if (reading.kind == HBF_READING_COUNTER && std::string_view(reading.unit) == "errors") sum += reading.value;
    return sum;
}

[[noreturn]] void silent(const Instance &device, const hbf_region_info &region, std::string detail) {
    Evidence evidence;
    evidence.fault_class = fault::swallowed;
    evidence.tier = device.tier(region.tier).name;
    evidence.region = region.region;
    evidence.detail = std::move(detail);
    const auto reason = evidence.detail;
    fail(reason, std::move(evidence));
}

} // namespace

HBF_CASE("integrity.ecc.injected_flip_is_reported",
         {.rules = {"HBF-INT-2"},
          .kills = {"m45_corrupt_not_reported", "uncorrectable_in_silence", "uncorrectable_called_a_bug",
                    "uncorrectable_nowhere", "uncorrectable_fails_the_wait"},
          .needs = need::cpu_tier}) {
    Subject &subject = context.subject();
    hbf_instance *handle = nullptr;
    const Call made = subject.create(handle, {{"test.uncorrectable", "2"}});
    if (!made.ok()) {
        if (made.status != HBF_INVALID && made.status != HBF_UNSUPPORTED) // it is known
            must(made, "create with the option test.uncorrectable");
        context.not_observable(
            "needs a device that can be made to have an uncorrectable error (option test.uncorrectable of "
            "create): " +
            made.message);
    }
    const Instance device(subject, handle);
    const uint32_t tier = device.cpu_tier();
    Regions regions(device);
    ByteAccess access(device);
    const auto source = regions.make(tier, region_size), destination = regions.make(tier, region_size);
    access.write(source, 0, std::vector<std::byte>(region_size, std::byte{0x5A}));
    const auto copy = copy_command(destination.region, 0, source.region, 0, region_size);
    const uint64_t before = device.health_table() ? counted(device) : 0;

    Queue queue(device);
    device.must_run(queue, {copy});
    context.count_check(); // the first one is whole
    const uint64_t value = device.must_submit(queue, {copy});
    const Call waited = device.wait(queue, value);
    context.check(waited.ok(), "wait for the value that meets the error: {}; it is HBF_OK also when the value failed",
                  to_string(waited));
    const auto progress = device.poll(queue);
    context.count_check();
    if (progress.failed != value || progress.status != HBF_DATA_LOSS)
        silent(device, source,
               progress.failed != value
                   ? std::string("a copy that met an uncorrectable error completed as if its bytes were right")
                   : fmt::format("an uncorrectable error fails the copy with {}, not with HBF_DATA_LOSS",
                                 status_name(progress.status)));
    const Call why = device.failure(queue);
    context.check(why.region == source.region && why.offset < region_size,
                  "HBF_DATA_LOSS names region {:#x} offset {:#x}; the error lies in region {:#x}, below {:#x}", why.region,
                  why.offset, source.region, region_size);
    context.count_check();
    if (device.health_table() && counted(device) <= before)
        silent(device, source, "an uncorrectable error was met, and no counter of hbf.health/1 has counted it");
}

} // namespace hbf::conformance
