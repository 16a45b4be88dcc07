// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/abi/failures.hpp"

#include <algorithm>
#include <utility>

namespace hbf::conformance {
namespace {

constexpr uint64_t region_size = 8192;
constexpr hbf_option unknown_option = {{"no-such-option", 14}, {"1", 1}};

hbf_string text(std::string_view from) {
    return {from.data(), from.size()};
}

} // namespace

Failures::Failures(Subject &subject, Instance &device)
    : subject_(subject), device_(device), regions_(device), queue_(device) {
    const uint32_t tier = device.dma_tiers().at(0);
    region_ = regions_.make(tier, region_size);
    other_ = regions_.make(tier, region_size);
    const hbf_region_info gone = device.must_alloc(tier, region_size);
    device.must_free(gone.region);
    freed_ = gone.region;
    of_create();
    of_tiers();
    of_regions();
    of_queues();
    of_commands();
    of_extensions();
    nulls_of_base();
    nulls_of_tables();
}

void Failures::add(std::string what, std::vector<hbf_status> due, std::function<hbf_status(hbf_error *)> call) {
    all_.push_back({std::move(what), std::move(due), [call = std::move(call)](hbf_error *error, hbf_status &status) {
                        status = call(error);
                        return std::optional<uint64_t>();
                    }});
}

void Failures::add_out(std::string what, std::vector<hbf_status> due, OutCall call) {
    all_.push_back({std::move(what), std::move(due), [call = std::move(call)](hbf_error *error, hbf_status &status) {
                        uint64_t out = poison;
                        status = call(error, out);
                        return std::optional(out);
                    }});
}

hbf_status Failures::create(hbf_error *error, uint64_t &out, const hbf_option *option, std::string_view id) const {
    std::vector<hbf_option> options = subject_.abi_options();
    if (option) options.push_back(*option);
    hbf_create_in in{};
    in.struct_size = sizeof in;
    in.services = &subject_.services();
    in.option_count = static_cast<uint32_t>(options.size());
    in.options = options.data();
    in.device_id = text(id);
    auto *made = reinterpret_cast<hbf_instance *>(out);
    const hbf_status status = subject_.plugin().create(&in, &made, error);
    out = reinterpret_cast<uint64_t>(made);
    if (status == HBF_OK) subject_.plugin().destroy(made);
    return status;
}

void Failures::of_create() {
    add_out("create with an unknown option", {HBF_INVALID}, [this](hbf_error *error, uint64_t &out) {
        return create(error, out, &unknown_option, subject_.options().device_id);
    });
    add_out("create of a device that is not there", {HBF_UNAVAILABLE},
            [this](hbf_error *error, uint64_t &out) { return create(error, out, nullptr, "no-such-device"); });
}

hbf_status Failures::alloc(hbf_error *error, uint64_t &region, const std::function<void(hbf_alloc_desc &)> &change) const {
    hbf_alloc_desc desc{};
    desc.struct_size = sizeof desc;
    desc.tier = region_.tier;
    desc.size = region_size;
    change(desc);
    hbf_region_info made{};
    made.struct_size = sizeof made;
    made.region = region;
    const hbf_status status = device_.tier_table().alloc(device_.handle(), &desc, &made, error);
    region = made.region;
    if (status == HBF_OK) device_.free(made.region);
    return status;
}

void Failures::of_tiers() {
    add("describe of a tier past the last", {HBF_INVALID}, [this](hbf_error *error) {
        hbf_tier_info info{};
        info.struct_size = sizeof info;
        return device_.tier_table().describe(device_.handle(), device_.tier_table().tier_count, &info, error);
    });
    const auto refused = [this](std::string what, std::vector<hbf_status> due,
                                std::function<void(hbf_alloc_desc &)> change) {
        add_out(std::move(what), std::move(due), [this, change = std::move(change)](hbf_error *error, uint64_t &region) {
            return alloc(error, region, change);
        });
    };
    refused("alloc in a tier past the last", {HBF_INVALID}, [this](auto &d) { d.tier = device_.tier_table().tier_count; });
    refused("alloc of size 0", {HBF_INVALID}, [](auto &d) { d.size = 0; });
    refused("alloc of more than the tier has", {HBF_EXHAUSTED},
            [this](auto &d) { d.size = std::max(device_.tier(d.tier).capacity, device_.tier(d.tier).capacity * 2); });
    refused("alloc of all the bytes there can be", {HBF_EXHAUSTED}, [](auto &d) { d.size = UINT64_MAX; });
    refused("alloc aligned to 3", {HBF_INVALID}, [](auto &d) { d.alignment = 3; });
    refused("alloc aligned to 2^62", {HBF_UNSUPPORTED}, [](auto &d) { d.alignment = uint64_t{1} << 62; });
    refused("alloc with an unknown page size", {HBF_INVALID}, [](auto &d) { d.pages = 99; });
    refused("alloc with an unknown flag", {HBF_INVALID}, [](auto &d) { d.flags = 1u << 31; });
    if (!(device_.capabilities() & need::persistent)) return;
    const uint32_t tier = device_.persistent_tier();
    refused("alloc with a name that leads elsewhere", {HBF_INVALID}, [tier](auto &d) {
        d.tier = tier;
        d.name = text("../elsewhere");
    });
    refused("alloc that opens a region which is not there", {HBF_UNAVAILABLE}, [tier](auto &d) {
        d.tier = tier;
        d.name = text("hbf-conformance.no-such-region");
        d.flags = HBF_ALLOC_OPEN_EXISTING;
    });
}

void Failures::of_regions() {
    const auto free = [this](std::string what, hbf_region region) {
        add(std::move(what), {HBF_INVALID},
            [this, region](hbf_error *error) { return device_.tier_table().free(device_.handle(), region, error); });
    };
    free("free of region 0", 0);
    free("free of a region that was freed", freed_);
    free("free of a handle that was never given", UINT64_MAX - 5);
    if (!(device_.capabilities() & need::register_host)) return;
    add_out("register_host of 0 bytes", {HBF_INVALID}, [this](hbf_error *error, uint64_t &region) {
        hbf_region_info made{};
        made.struct_size = sizeof made;
        made.region = region;
        const hbf_status status = device_.tier_table().register_host(device_.handle(), this, 0, &made, error);
        region = made.region;
        return status;
    });
}

void Failures::of_queues() {
    const auto make = [this](std::string what, hbf_queue_desc desc) {
        desc.struct_size = sizeof desc;
        add_out(std::move(what), {HBF_INVALID}, [this, desc](hbf_error *error, uint64_t &out) {
            auto *made = reinterpret_cast<hbf_queue *>(out);
            const hbf_status status = device_.queue_table().create(device_.handle(), &desc, &made, error);
            out = reinterpret_cast<uint64_t>(made);
            if (status == HBF_OK) device_.destroy_queue(made);
            return status;
        });
    };
    const hbf_queue_info &info = device_.queue_info();
    if (info.max_depth && info.max_depth < UINT32_MAX) make("a queue deeper than max_depth", {0, info.max_depth + 1, 0, 0});
    if (info.max_commands && info.max_commands < UINT32_MAX)
        make("a queue for larger batches than max_commands", {0, 0, info.max_commands + 1, 0});
    make("a queue with an unknown flag", {0, 0, 0, 1u << 31});
    add("wait for a value that submit has not returned", {HBF_INVALID},
        [this](hbf_error *error) { return device_.queue_table().wait(queue_, 1000, 0, error); });
    if (device_.capabilities() & need::cancel)
        add("cancel of a value that submit has not returned", {HBF_INVALID},
            [this](hbf_error *error) { return device_.queue_table().cancel(queue_, 1000, error); });
    add("failure of a queue where nothing failed", {HBF_INVALID},
        [this](hbf_error *error) { return device_.queue_table().failure(queue_, error); });
}

hbf_status Failures::submit(hbf_error *error, uint64_t &value, const std::vector<hbf_command> &commands,
                            uint32_t stride) const {
    hbf_batch batch{};
    batch.struct_size = sizeof batch;
    batch.command_stride = stride;
    batch.commands = commands.data();
    batch.command_count = commands.size();
    const hbf_status status = device_.queue_table().submit(queue_, &batch, &value, error);
    if (status == HBF_OK) device_.wait(queue_, value);
    return status;
}

void Failures::of_commands() {
    const auto refused = [this](std::string what, hbf_status due, hbf_command command, uint32_t stride = HBF_COMMAND_SIZE) {
        add_out(std::move(what), {due}, [this, command, stride](hbf_error *error, uint64_t &value) {
            return submit(error, value, {command}, stride);
        });
    };
    const hbf_region a = region_.region, b = other_.region;
    refused("a copy from a region that was freed", HBF_INVALID, copy_command(a, 0, freed_, 0, 64));
    refused("a copy past the end of its source", HBF_INVALID, copy_command(a, 0, b, region_size - 63, 64));
    refused("a copy whose end overflows", HBF_INVALID, copy_command(a, UINT64_MAX - 10, b, 0, 64));
    refused("a copy of 0 bytes", HBF_INVALID, copy_command(a, 0, b, 0, 0));
    refused("a copy onto itself", HBF_INVALID, copy_command(a, 0, a, 32, 64));
    refused("a fill with a pattern of 3 bytes", HBF_INVALID, fill_command(a, 0, 64, 0, 3));
    refused("a fill past the end", HBF_INVALID, fill_command(a, region_size, 1, 0, 1));
    refused("a flush past the end", HBF_INVALID, flush_command(a, region_size, 1));
    refused("a wait for a value that is not there", HBF_INVALID, wait_command(queue_, 1000));
    hbf_command unknown = copy_command(a, 0, b, 0, 64);
    unknown.flags = 1u << 30;
    refused("a copy with an unknown flag", HBF_INVALID, unknown);
    unknown = {};
    unknown.kind = 99;
    refused("a command of an unknown kind", HBF_INVALID, unknown);
    refused("commands that overlap", HBF_INVALID, copy_command(a, 0, b, 0, 64), HBF_COMMAND_SIZE - 8);
    if (!(device_.queue_info().capabilities & HBF_QUEUE_CAP_CRC32C)) {
        static uint32_t crc = 0;
        refused("a checksummed copy where there is none", HBF_UNSUPPORTED, copy_command(a, 0, b, 0, 64, &crc));
    }
}

void Failures::of_extensions() {
    if (const hbf_coherence_ext *table = device_.coherence_table())
        add("describe of a domain past the last", {HBF_INVALID}, [this, table](hbf_error *error) {
            hbf_domain_info info{};
            info.struct_size = sizeof info;
            return table->describe(device_.handle(), table->domain_count, &info, error);
        });
    if (const hbf_kernels_ext *table = device_.kernels_table())
        add_out("a kernel that is not there", {HBF_UNSUPPORTED}, [this, table](hbf_error *error, uint64_t &kernel) {
            hbf_kernel_info info{};
            info.struct_size = sizeof info;
            info.kernel = kernel;
            const hbf_status status = table->find(device_.handle(), text("no_such_kernel"), &info, error);
            kernel = info.kernel;
            return status;
        });
    if (const hbf_health_ext *table = device_.health_table())
        add_out("health readings with a stride of 4 bytes", {HBF_INVALID}, [this, table](hbf_error *error, uint64_t &out) {
            hbf_reading reading{};
            reading.struct_size = sizeof reading;
            auto count = static_cast<uint32_t>(out);
            const hbf_status status = table->read(device_.handle(), &reading, 4, 1, &count, error);
            out = count;
            return status;
        });
}

} // namespace hbf::conformance
