// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/abi/operations.hpp"

#include <utility>

#include <fmt/format.h>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/case.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

// What a call is made with and what it made: allocated before, so that the call itself is all that allocates.
struct State {
    hbf_probe_in probe_in{};
    hbf_probe_out probe_out{};
    hbf_create_in create_in{};
    hbf_instance *instance = nullptr;
    hbf_alloc_desc desc{};
    hbf_region_info region{};
    alignas(4096) std::byte memory[4096] = {};
    hbf_queue_desc queue_desc{};
    hbf_queue *queue = nullptr;
    hbf_batch batch{};
    hbf_command command{};
    uint64_t value = 0;
    hbf_tier_info tier{};
    hbf_domain_info domain{};
    uint32_t readings = 0;
};

template <class T>
void size(T &that) {
    that.struct_size = sizeof that;
}

std::string nothing_to_undo() {
    return {};
}

// `made` of tier `table` must be a region one can free; freed.
std::string free_made(const Instance &device, hbf_region_info &made) {
    const Call call = device.free(made.region); // 0 is none that can be freed
    made.region = 0;
    return call.ok() ? "" : "it succeeded, but its region cannot be freed: " + to_string(call);
}

// An instance of an undone create must be able to do something.
std::string end_instance(Subject &subject, hbf_instance *&made) {
    const Instance instance(subject, std::exchange(made, nullptr)); // throws a Verdict if its tables are not there
    std::string wrong;
    for (uint32_t tier = 0; tier < instance.tiers().size() && wrong.empty(); ++tier) {
        hbf_region_info region{};
        must(instance.alloc(tier, 4096, region), "alloc in an instance that was made while memory ran out");
        wrong = free_made(instance, region);
    }
    return wrong;
}

} // namespace

std::unique_ptr<Instance> create_without_log(Subject &subject) {
    hbf_create_in in{};
    size(in);
    in.options = subject.abi_options().data();
    in.option_count = static_cast<uint32_t>(subject.abi_options().size());
    in.device_id = {subject.options().device_id.data(), subject.options().device_id.size()};
    hbf_instance *made = nullptr;
    ErrorBuffer error;
    must(error.call(subject.plugin().create(&in, &made, error)), "create without host services, which may be NULL");
    return std::make_unique<Instance>(subject, made);
}

std::vector<Operation> operations(Subject &subject, Instance &device, hbf_queue *queue) {
    const auto s = std::make_shared<State>();
    const hbf_plugin &plugin = subject.plugin();
    const hbf_tier_ext &tiers = device.tier_table();
    const hbf_queue_ext &queues = device.queue_table();
    hbf_instance *const handle = device.handle();

    size(s->probe_in);
    s->probe_in.options = subject.abi_options().data();
    s->probe_in.option_count = static_cast<uint32_t>(subject.abi_options().size());
    size(s->probe_out);
    size(s->create_in);
    s->create_in.options = s->probe_in.options;
    s->create_in.option_count = s->probe_in.option_count;
    s->create_in.device_id = {subject.options().device_id.data(), subject.options().device_id.size()};
    size(s->desc);
    s->desc.size = 4096;
    size(s->region);
    size(s->queue_desc);
    size(s->batch);
    s->batch.command_stride = HBF_COMMAND_SIZE;
    s->batch.commands = &s->command;
    size(s->tier);
    size(s->domain);

    std::vector<Operation> out;
    out.push_back({"probe", [&plugin, s](hbf_error *e) { return plugin.probe(&s->probe_in, &s->probe_out, e); },
                   [s] { return s->probe_out.device_count ? "" : "it succeeded, but there is no device"; }});
    out.push_back({"create", [&plugin, s](hbf_error *e) { return plugin.create(&s->create_in, &s->instance, e); },
                   [&subject, s] { return end_instance(subject, s->instance); }});
    out.push_back({"hbf.tier/1 describe",
                   [&tiers, handle, s](hbf_error *e) { return tiers.describe(handle, 0, &s->tier, e); }, nothing_to_undo});
    for (uint32_t tier = 0; tier < device.tiers().size(); ++tier)
        out.push_back({fmt::format("hbf.tier/1 alloc in {}", device.tier(tier).name),
                       [&tiers, handle, s, tier](hbf_error *e) {
                           s->desc.tier = tier;
                           return tiers.alloc(handle, &s->desc, &s->region, e);
                       },
                       [&device, s] { return free_made(device, s->region); }});
    if (device.capabilities() & need::register_host)
        out.push_back({"hbf.tier/1 register_host",
                       [&tiers, handle, s](hbf_error *e) {
                           return tiers.register_host(handle, s->memory, sizeof s->memory, &s->region, e);
                       },
                       [&device, s] { return free_made(device, s->region); }});
    out.push_back({"hbf.queue/1 create",
                   [&queues, handle, s](hbf_error *e) { return queues.create(handle, &s->queue_desc, &s->queue, e); },
                   [&device, s]() -> std::string {
                       if (!s->queue) return "it succeeded, but there is no queue";
                       const Call call = device.destroy_queue(std::exchange(s->queue, nullptr));
                       return call.ok() ? "" : "it succeeded, but its queue cannot be destroyed: " + to_string(call);
                   }});
    out.push_back({"hbf.queue/1 submit and wait",
                   [&queues, queue, s](hbf_error *e) {
                       const hbf_status status = queues.submit(queue, &s->batch, &s->value, e);
                       return status != HBF_OK ? status : queues.wait(queue, s->value, 10'000'000'000, e);
                   },
                   nothing_to_undo});
    if (const hbf_coherence_ext *table = device.coherence_table(); table && table->domain_count)
        out.push_back({"hbf.coherence/1 describe",
                       [table, handle, s](hbf_error *e) { return table->describe(handle, 0, &s->domain, e); },
                       nothing_to_undo});
    if (const hbf_health_ext *table = device.health_table())
        out.push_back({"hbf.health/1 read",
                       [table, handle, s](hbf_error *e) { return table->read(handle, nullptr, 0, 0, &s->readings, e); },
                       nothing_to_undo});
    return out;
}

} // namespace hbf::conformance
