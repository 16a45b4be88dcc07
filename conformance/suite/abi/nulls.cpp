// SPDX-License-Identifier: Apache-2.0
// A NULL wherever the headers allow none.
#include <utility>

#include "conformance/suite/abi/failures.hpp"

namespace hbf::conformance {
namespace {

template <class T>
T sized() {
    T out{};
    out.struct_size = sizeof out;
    return out;
}

} // namespace

void Failures::add_null(std::string what, std::function<hbf_status(hbf_error *)> call, hbf_status due) {
    nulls_.push_back({std::move(what), {due}, [call = std::move(call)](hbf_error *error, hbf_status &status) {
                          status = call(error);
                          return std::optional<uint64_t>();
                      }});
}

void Failures::nulls_of_base() {
    const hbf_plugin &plugin = subject_.plugin();
    add_null("probe: in", [&plugin](hbf_error *error) {
        auto out = sized<hbf_probe_out>();
        return plugin.probe(nullptr, &out, error);
    });
    add_null("probe: out", [&plugin](hbf_error *error) {
        const auto in = sized<hbf_probe_in>();
        return plugin.probe(&in, nullptr, error);
    });
    add_null("probe: devices, with a capacity of 2", [this, &plugin](hbf_error *error) {
        auto in = sized<hbf_probe_in>();
        in.option_count = static_cast<uint32_t>(subject_.abi_options().size());
        in.options = subject_.abi_options().data();
        auto out = sized<hbf_probe_out>();
        out.device_capacity = 2;
        out.device_stride = sizeof(hbf_device_info);
        return plugin.probe(&in, &out, error);
    });
    add_null("probe: options, with a count of 1", [&plugin](hbf_error *error) {
        auto in = sized<hbf_probe_in>();
        in.option_count = 1;
        auto out = sized<hbf_probe_out>();
        return plugin.probe(&in, &out, error);
    });
    add_null("create: in", [&plugin](hbf_error *error) {
        hbf_instance *made = nullptr;
        return plugin.create(nullptr, &made, error);
    });
    add_null("create: out", [&plugin](hbf_error *error) {
        const auto in = sized<hbf_create_in>();
        return plugin.create(&in, nullptr, error);
    });
    add_null("create: options, with a count of 1", [&plugin](hbf_error *error) {
        auto in = sized<hbf_create_in>();
        in.option_count = 1;
        hbf_instance *made = nullptr;
        return plugin.create(&in, &made, error);
    });
}

void Failures::nulls_of_tables() {
    const hbf_tier_ext &tier = device_.tier_table();
    hbf_instance *const handle = device_.handle();
    add_null("describe: instance", [&tier](hbf_error *error) {
        auto info = sized<hbf_tier_info>();
        return tier.describe(nullptr, 0, &info, error);
    });
    add_null("describe: out", [&tier, handle](hbf_error *error) { return tier.describe(handle, 0, nullptr, error); });
    add_null("alloc: instance", [&tier](hbf_error *error) {
        auto desc = sized<hbf_alloc_desc>();
        desc.size = 1;
        auto made = sized<hbf_region_info>();
        return tier.alloc(nullptr, &desc, &made, error);
    });
    add_null("alloc: desc", [&tier, handle](hbf_error *error) {
        auto made = sized<hbf_region_info>();
        return tier.alloc(handle, nullptr, &made, error);
    });
    add_null("alloc: out", [&tier, handle](hbf_error *error) {
        auto desc = sized<hbf_alloc_desc>();
        desc.size = 1;
        return tier.alloc(handle, &desc, nullptr, error);
    });
    add_null("free: instance", [this, &tier](hbf_error *error) { return tier.free(nullptr, region_.region, error); });
    if (device_.capabilities() & need::register_host) {
        add_null("register_host: address", [&tier, handle](hbf_error *error) {
            auto made = sized<hbf_region_info>();
            return tier.register_host(handle, nullptr, 4096, &made, error);
        });
        add_null("register_host: out",
                 [this, &tier, handle](hbf_error *error) { return tier.register_host(handle, this, 1, nullptr, error); });
    }
    add_null("get_extension: instance", [this](hbf_error *) { // NULL is its answer to what it does not know
        return subject_.plugin().get_extension(nullptr, {"hbf.tier/1", 10}) ? HBF_OK : HBF_INVALID;
    });
    const hbf_queue_ext &queues = device_.queue_table();
    add_null("poll: queue", [&queues](hbf_error *) {
        auto progress = sized<hbf_progress>();
        return queues.poll(nullptr, &progress);
    });
    add_null("queue destroy: queue", [&queues](hbf_error *error) { return queues.destroy(nullptr, error); }, HBF_OK);
    add_null("queue info: instance", [&queues](hbf_error *error) {
        auto info = sized<hbf_queue_info>();
        return queues.info(nullptr, &info, error);
    });
    add_null("queue info: out", [&queues, handle](hbf_error *error) { return queues.info(handle, nullptr, error); });
    add_null("queue create: instance", [&queues](hbf_error *error) {
        const auto desc = sized<hbf_queue_desc>();
        hbf_queue *made = nullptr;
        return queues.create(nullptr, &desc, &made, error);
    });
    add_null("queue create: desc", [&queues, handle](hbf_error *error) {
        hbf_queue *made = nullptr;
        return queues.create(handle, nullptr, &made, error);
    });
    add_null("queue create: out", [&queues, handle](hbf_error *error) {
        const auto desc = sized<hbf_queue_desc>();
        return queues.create(handle, &desc, nullptr, error);
    });
    add_null("submit: queue", [&queues](hbf_error *error) {
        const hbf_batch batch{sizeof batch, HBF_COMMAND_SIZE, nullptr, 0};
        uint64_t value = 0;
        return queues.submit(nullptr, &batch, &value, error);
    });
    add_null("submit: batch", [this, &queues](hbf_error *error) {
        uint64_t value = 0;
        return queues.submit(queue_, nullptr, &value, error);
    });
    add_null("submit: out_value", [this, &queues](hbf_error *error) {
        const hbf_batch batch{sizeof batch, HBF_COMMAND_SIZE, nullptr, 0};
        return queues.submit(queue_, &batch, nullptr, error);
    });
    add_null("submit: commands, with a count of 1", [this, &queues](hbf_error *error) {
        const hbf_batch batch{sizeof batch, HBF_COMMAND_SIZE, nullptr, 1};
        uint64_t value = 0;
        return queues.submit(queue_, &batch, &value, error);
    });
    add_null("wait: queue", [&queues](hbf_error *error) { return queues.wait(nullptr, 1, 0, error); });
    add_null("failure: queue", [&queues](hbf_error *error) { return queues.failure(nullptr, error); });
    if (device_.capabilities() & need::cancel)
        add_null("cancel: queue", [&queues](hbf_error *error) { return queues.cancel(nullptr, 1, error); });
    if (const hbf_coherence_ext *table = device_.coherence_table()) {
        add_null("describe domain: instance", [table](hbf_error *error) {
            auto info = sized<hbf_domain_info>();
            return table->describe(nullptr, 0, &info, error);
        });
        add_null("describe domain: out",
                 [table, handle](hbf_error *error) { return table->describe(handle, 0, nullptr, error); });
    }
    if (const hbf_kernels_ext *table = device_.kernels_table()) {
        add_null("find kernel: instance", [table](hbf_error *error) {
            auto info = sized<hbf_kernel_info>();
            return table->find(nullptr, {"x", 1}, &info, error);
        });
        add_null("find kernel: out",
                 [table, handle](hbf_error *error) { return table->find(handle, {"x", 1}, nullptr, error); });
        add_null("kernel name: instance", [table](hbf_error *error) {
            hbf_string name{};
            return table->name(nullptr, 0, &name, error);
        });
        add_null("kernel name: out", [table, handle](hbf_error *error) { return table->name(handle, 0, nullptr, error); });
    }
    if (const hbf_health_ext *table = device_.health_table()) {
        add_null("health: instance", [table](hbf_error *error) {
            uint32_t count = 0;
            return table->read(nullptr, nullptr, 0, 0, &count, error);
        });
        add_null("health: count",
                 [table, handle](hbf_error *error) { return table->read(handle, nullptr, 0, 0, nullptr, error); });
    }
}

} // namespace hbf::conformance
