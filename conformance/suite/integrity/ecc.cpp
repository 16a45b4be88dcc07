// SPDX-License-Identifier: Apache-2.0
// A device that can be asked to have an uncorrectable error offers that as an option of create, so that nothing in the ABI
// speaks of it: test.uncorrectable=TIER:OFFSET, "the 8 bytes at OFFSET of the next region made in TIER cannot be read".
#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t region_size = 64u << 10, error_at = 40u << 10;

uint64_t counted(const Instance &device) {
    uint64_t sum = 0;
    if (!device.health_table()) return 0;
    for (const auto &reading : device.must_read_health())
        if (reading.kind == HBF_READING_COUNTER) sum += reading.value;
    return sum;
}

} // namespace

HBF_CASE("integrity.ecc.injected_flip_is_reported", {.rules = {"HBF-INT-2"}, .kills = {"m45_corrupt_not_reported"}}) {
    Subject &subject = context.subject();
    bool tested = false;
    std::string refused;
    for (const uint32_t tier : context.device().dma_tiers()) {
        const std::string name = context.device().tier(tier).name;
        hbf_instance *handle = nullptr;
        const Call made = subject.create(handle, {{"test.uncorrectable", fmt::format("{}:{}", name, error_at)}});
        if (!made.ok()) {
            context.check(made.status == HBF_INVALID || made.status == HBF_UNSUPPORTED || made.status == HBF_BUSY,
                          "create with test.uncorrectable: {}; an option that is not known is HBF_INVALID", to_string(made));
            refused = made.message;
            continue;
        }
        const Instance device(subject, handle);
        Regions regions(device);
        ByteAccess access(device);
        const auto bad = regions.make(tier, region_size), good = regions.make(tier, region_size);
        const std::vector<std::byte> bytes(region_size, std::byte{0x5A});
        access.write(good, 0, bytes);
        access.write(bad, 0, bytes);
        const uint64_t before = counted(device);

        Queue beside(device);
        device.must_run(beside, {copy_command(good.region, 0, bad.region, 0, error_at)});
        context.count_check(); // what does not touch the place is read as ever

        Queue queue(device);
        const uint64_t value = device.must_submit(queue, {copy_command(good.region, 0, bad.region, 0, region_size)});
        static_cast<void>(device.wait(queue, value));
        const auto progress = device.poll(queue);
        Evidence evidence;
        evidence.fault_class = fault::swallowed;
        evidence.tier = name;
        evidence.region = bad.region;
        evidence.offset = error_at;
        if (progress.completed < value || progress.failed != value) {
            evidence.detail = fmt::format("a copy that reads the uncorrectable word at offset {:#x} of {} completes as if its "
                                          "bytes were right",
                                          error_at, name);
            const auto reason = evidence.detail;
            fail(reason, std::move(evidence));
        }
        context.check(progress.status == HBF_DATA_LOSS, "reading an uncorrectable word fails with {}, not with HBF_DATA_LOSS",
                      status_name(progress.status));
        const Call why = device.failure(queue);
        context.check(why.region == bad.region && why.offset != HBF_NO_PLACE && why.offset <= error_at && error_at < why.offset + 4096,
                      "HBF_DATA_LOSS names region {} offset {:#x}; the error lies in region {} at {:#x}", why.region, why.offset,
                      bad.region, error_at);
        if (device.health_table())
            context.check(counted(device) > before, "no counter of hbf.health/1 has counted the uncorrectable error");
        tested = true;
    }
    if (!tested)
        context.not_supported(fmt::format("the plugin offers no error injection (option test.uncorrectable): {}", refused));
}

} // namespace hbf::conformance
