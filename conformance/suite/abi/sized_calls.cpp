// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/abi/sized_calls.hpp"

#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/case.hpp"
#include "conformance/suite/context.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t asked = 4096; // bytes of a region

// What a list entry is made from.
template <class T>
struct Entry {
    std::string name;
    Direction direction;
    uint32_t min_size;
    T input;                                          // an input, or an output before the call
    std::function<Call(T *)> call;                    // undoes what it made
    std::function<std::string(const T &)> wrong = {}; // of an output
};

template <class T>
SizedCall sized(Entry<T> entry) {
    SizedCall out{entry.name, entry.direction, entry.min_size, sizeof(T), {}, {}};
    const auto shared = std::make_shared<Entry<T>>(std::move(entry));
    out.shortened = [shared](uint32_t size) {
        const Shortened<T> given(shared->input, size);
        SizedCall::Outcome outcome;
        outcome.call = shared->call(given.get());
        outcome.touched = given.touched();
        const T after = given.value();
        outcome.size_kept = after.struct_size == size;
        if (outcome.call.ok() && shared->wrong) outcome.wrong = shared->wrong(after);
        return outcome;
    };
    out.extended = [shared] {
        Extended<T> given;
        given.known = shared->input;
        given.known.struct_size = sizeof given;
        SizedCall::Outcome outcome;
        outcome.call = shared->call(&given.known);
        outcome.tail_kept = given.tail_untouched();
        outcome.size_kept = given.known.struct_size == sizeof given;
        if (outcome.call.ok() && shared->wrong) outcome.wrong = shared->wrong(given.known);
        return outcome;
    };
    return out;
}

template <class T>
T zeroed() {
    T out{};
    out.struct_size = sizeof out;
    return out;
}

void base_calls(Subject &subject, std::vector<SizedCall> &out) {
    const hbf_plugin &plugin = subject.plugin();
    hbf_probe_in in = zeroed<hbf_probe_in>();
    in.option_count = static_cast<uint32_t>(subject.abi_options().size());
    in.options = subject.abi_options().empty() ? nullptr : subject.abi_options().data();
    in.services = &subject.services();
    const auto probe = [&plugin](const hbf_probe_in *given, hbf_probe_out *found) {
        ErrorBuffer error;
        return error.call(plugin.probe(given, found, error));
    };
    out.push_back(sized<hbf_probe_in>({"probe: in", Direction::in, HBF_PROBE_IN_MIN_SIZE, in, [probe](hbf_probe_in *given) {
                                           hbf_probe_out found = zeroed<hbf_probe_out>();
                                           return probe(given, &found);
                                       }}));
    out.push_back(
        sized<hbf_probe_out>({"probe: out", Direction::out, HBF_PROBE_OUT_MIN_SIZE, zeroed<hbf_probe_out>(),
                              [probe, in](hbf_probe_out *found) { return probe(&in, found); },
                              [](const hbf_probe_out &found) { return found.device_count ? "" : "device_count is 0"; }}));

    hbf_create_in create = zeroed<hbf_create_in>();
    create.option_count = in.option_count;
    create.options = in.options;
    create.services = in.services;
    const std::string &id = subject.options().device_id;
    create.device_id = {id.data(), id.size()};
    const auto make = [&plugin](const hbf_create_in *given) {
        hbf_instance *made = nullptr;
        ErrorBuffer error;
        const Call call = error.call(plugin.create(given, &made, error));
        if (call.ok()) plugin.destroy(made);
        return call;
    };
    out.push_back(sized<hbf_create_in>({"create: in", Direction::in, HBF_CREATE_IN_MIN_SIZE, create, make}));
    out.push_back(sized<hbf_host_services>({"create: services", Direction::in, HBF_HOST_SERVICES_MIN_SIZE,
                                            subject.services(), [make, create](hbf_host_services *services) {
                                                hbf_create_in given = create;
                                                given.services = services;
                                                return make(&given);
                                            }}));
}

void tier_calls(Instance &device, std::vector<SizedCall> &out) {
    const hbf_tier_ext &table = device.tier_table();
    hbf_instance *const handle = device.handle();
    const auto ended = [&device](const Call &call, hbf_region region) {
        if (call.ok() && region) device.must_free(region);
        return call;
    };
    const auto region_wrong = [](const hbf_region_info &made) {
        return made.region == 0 || made.size != asked ? fmt::format("region {} of {} bytes", made.region, made.size)
                                                      : std::string();
    };
    const hbf_tier_info first = device.tier(0);
    out.push_back(
        sized<hbf_tier_info>({"hbf.tier/1 describe: out", Direction::out, HBF_TIER_INFO_MIN_SIZE, zeroed<hbf_tier_info>(),
                              [&table, handle](hbf_tier_info *info) {
                                  ErrorBuffer error;
                                  return error.call(table.describe(handle, 0, info, error));
                              },
                              [first](const hbf_tier_info &info) -> std::string {
                                  if (info.kind == first.kind && info.capacity == first.capacity &&
                                      std::strncmp(info.name, first.name, sizeof info.name) == 0)
                                      return {};
                                  return "another kind, capacity or name";
                              }}));
    hbf_alloc_desc desc = zeroed<hbf_alloc_desc>();
    desc.size = asked;
    out.push_back(sized<hbf_alloc_desc>({"hbf.tier/1 alloc: desc", Direction::in, HBF_ALLOC_DESC_MIN_SIZE, desc,
                                         [&table, handle, ended](hbf_alloc_desc *given) {
                                             hbf_region_info made = zeroed<hbf_region_info>();
                                             ErrorBuffer error;
                                             const Call call = error.call(table.alloc(handle, given, &made, error));
                                             return ended(call, made.region);
                                         }}));
    out.push_back(
        sized<hbf_region_info>({"hbf.tier/1 alloc: out", Direction::out, HBF_REGION_INFO_MIN_SIZE, zeroed<hbf_region_info>(),
                                [&table, handle, desc, ended](hbf_region_info *made) {
                                    ErrorBuffer error;
                                    const Call call = error.call(table.alloc(handle, &desc, made, error));
                                    return call.ok() ? ended(call, made->region) : call;
                                },
                                region_wrong}));
    if (device.capabilities() & need::register_host) {
        const auto memory = std::make_shared<GuardedBytes>(asked); // starts at a page
        out.push_back(sized<hbf_region_info>(
            {"hbf.tier/1 register_host: out", Direction::out, HBF_REGION_INFO_MIN_SIZE, zeroed<hbf_region_info>(),
             [&table, handle, memory, ended](hbf_region_info *made) {
                 ErrorBuffer error;
                 const Call call = error.call(table.register_host(handle, memory->data(), asked, made, error));
                 return call.ok() ? ended(call, made->region) : call;
             },
             region_wrong}));
    }
}

void queue_calls(Instance &device, hbf_queue *queue, std::vector<SizedCall> &out) {
    const hbf_queue_ext &table = device.queue_table();
    hbf_instance *const handle = device.handle();
    const hbf_queue_info facts = device.queue_info();
    out.push_back(
        sized<hbf_queue_info>({"hbf.queue/1 info: out", Direction::out, HBF_QUEUE_INFO_MIN_SIZE, zeroed<hbf_queue_info>(),
                               [&table, handle](hbf_queue_info *info) {
                                   ErrorBuffer error;
                                   return error.call(table.info(handle, info, error));
                               },
                               [facts](const hbf_queue_info &info) -> std::string {
                                   if (info.max_depth == facts.max_depth && info.max_queues == facts.max_queues) return {};
                                   return "another depth or number of queues";
                               }}));
    out.push_back(sized<hbf_queue_desc>({"hbf.queue/1 create: desc", Direction::in, HBF_QUEUE_DESC_MIN_SIZE,
                                         zeroed<hbf_queue_desc>(), [&device, &table, handle](hbf_queue_desc *desc) {
                                             hbf_queue *made = nullptr;
                                             ErrorBuffer error;
                                             const Call call = error.call(table.create(handle, desc, &made, error));
                                             if (call.ok()) device.must_destroy_queue(made);
                                             return call;
                                         }}));
    hbf_batch batch = zeroed<hbf_batch>();
    batch.command_stride = HBF_COMMAND_SIZE;
    out.push_back(sized<hbf_batch>(
        {"hbf.queue/1 submit: batch", Direction::in, HBF_BATCH_MIN_SIZE, batch, [&device, &table, queue](hbf_batch *given) {
             uint64_t value = 0;
             ErrorBuffer error;
             const Call call = error.call(table.submit(queue, given, &value, error));
             if (call.ok()) device.must_complete(queue, value);
             return call;
         }}));
    hbf_progress before = zeroed<hbf_progress>();
    before.completed = before.failed = 99;
    out.push_back(sized<hbf_progress>({"hbf.queue/1 poll: out", Direction::out, HBF_PROGRESS_MIN_SIZE, before,
                                       [&table, queue](hbf_progress *progress) {
                                           Call call;
                                           call.status = table.poll(queue, progress);
                                           if (!call.ok()) call.message = "(poll has no error buffer)";
                                           return call;
                                       },
                                       [](const hbf_progress &progress) {
                                           return progress.failed != 0 ? fmt::format("failed is {}", progress.failed)
                                                                       : std::string();
                                       }}));
}

void optional_calls(Instance &device, std::vector<SizedCall> &out) {
    hbf_instance *const handle = device.handle();
    if (const hbf_coherence_ext *table = device.coherence_table(); table && table->domain_count) {
        const uint64_t granule = device.domains().at(0).granule;
        out.push_back(sized<hbf_domain_info>(
            {"hbf.coherence/1 describe: out", Direction::out, HBF_DOMAIN_INFO_MIN_SIZE, zeroed<hbf_domain_info>(),
             [table, handle](hbf_domain_info *info) {
                 ErrorBuffer error;
                 return error.call(table->describe(handle, 0, info, error));
             },
             [granule](const hbf_domain_info &info) { return info.granule == granule ? "" : "another granule"; }}));
    }
    if (const hbf_kernels_ext *table = device.kernels_table(); table && table->kernel_count) {
        hbf_string name{};
        must(table->name(handle, 0, &name, nullptr), "hbf.kernels/1 name 0");
        out.push_back(sized<hbf_kernel_info>(
            {"hbf.kernels/1 find: out", Direction::out, HBF_KERNEL_INFO_MIN_SIZE, zeroed<hbf_kernel_info>(),
             [table, handle, name](hbf_kernel_info *info) {
                 ErrorBuffer error;
                 return error.call(table->find(handle, name, info, error));
             },
             [](const hbf_kernel_info &info) { return info.kernel && info.max_group_size ? "" : "no id or no group"; }}));
    }
}

} // namespace

std::vector<SizedCall> sized_calls(Subject &subject, Instance &device, hbf_queue *queue) {
    std::vector<SizedCall> out;
    base_calls(subject, out);
    tier_calls(device, out);
    queue_calls(device, queue, out);
    optional_calls(device, out);
    return out;
}

} // namespace hbf::conformance
