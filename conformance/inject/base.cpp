// SPDX-License-Identifier: Apache-2.0
// The base table: which plugin and which faults is known from the options of probe and create only, so the query stays pure.
#include <string_view>
#include <utility>

#include "conformance/inject/options.hpp"
#include "conformance/inject/plugin_file.hpp"
#include "conformance/inject/wrapper.hpp"
#include "hbf/sdk/shell/build_facts.hpp"
#include "hbf/sdk/shell/guard.hpp"
#include "hbf/sdk/shell/sized.hpp"

namespace hbf::inject {
namespace {

using sdk::shell::caught;
using sdk::shell::refuse;
using sdk::shell::usable;

std::unique_ptr<Stack> stack_for(const Options &options, const void *host_struct) {
    auto faults = make_faults(options.faults); // first: a mistyped fault must not depend on the plugin
    auto stack = std::make_unique<Stack>(open_plugin(options.plugin), std::move(faults));
    stack->given(host_struct);
    return stack;
}

hbf_status probe(const hbf_probe_in *in, hbf_probe_out *out, hbf_error *error) {
    if (!usable(in, HBF_PROBE_IN_MIN_SIZE))
        return refuse(error, HBF_INVALID, "probe: in is NULL or its struct_size too small");
    try {
        const Options options(in->options, in->option_count);
        WithOptions<hbf_probe_in> rest(*in, options.rest);
        return stack_for(options, in)->top().probe(rest.get(), out, error);
    } catch (const Crossing &) {
        throw;
    } catch (...) {
        if (usable(out, HBF_PROBE_OUT_MIN_SIZE)) out->device_count = 0;
        return caught(error);
    }
}

hbf_status create(const hbf_create_in *in, hbf_instance **out, hbf_error *error) {
    if (!out) return refuse(error, HBF_INVALID, "create: out is NULL");
    *out = nullptr;
    if (!usable(in, HBF_CREATE_IN_MIN_SIZE))
        return refuse(error, HBF_INVALID, "create: in is NULL or its struct_size too small");
    try {
        const Options options(in->options, in->option_count);
        WithOptions<hbf_create_in> rest(*in, options.rest);
        auto stack = stack_for(options, in);
        const hbf_status status = stack->top().create(rest.get(), error);
        if (status != HBF_OK || !stack->device().instance()) return status;
        for (const auto &fault : stack->faults()) fault->started();
        *out = (new Instance(std::move(stack)))->handle();
        return status;
    } catch (const Crossing &) {
        throw;
    } catch (...) {
        return caught(error);
    }
}

void destroy(hbf_instance *handle) {
    if (!handle) return;
    const std::unique_ptr<Instance> instance(Instance::of(handle));
    instance->top().destroy();
}

const void *get_extension(hbf_instance *handle, hbf_string id) {
    if (!handle || !id.data) return nullptr;
    return Instance::of(handle)->extension({id.data, id.size});
}

} // namespace

const hbf_plugin &base_table() {
    static const hbf_plugin table = [] {
        hbf_plugin t{};
        t.struct_size = sizeof t;
        t.abi_version = HBF_ABI_VERSION;
        t.name = "inject";
        t.vendor = "Triple-H";
        t.version = HBF_INJECT_VERSION;
        t.description = "another plugin with faults on purpose: option inject.plugin says which, inject.fault what";
        t.compiler = sdk::shell::compiler;
        t.build_id = "";
        t.sanitizer = sdk::shell::sanitizer_kind;
        // Not noexcept as the table has it: see thunks.cpp.
        t.probe = reinterpret_cast<decltype(t.probe)>(&probe);
        t.create = reinterpret_cast<decltype(t.create)>(&create);
        t.destroy = reinterpret_cast<decltype(t.destroy)>(&destroy);
        t.get_extension = reinterpret_cast<decltype(t.get_extension)>(&get_extension);
        return t;
    }();
    return table;
}

const hbf_plugin *answer_query(const hbf_plugin &table, uint32_t host_abi_max, const hbf_host_info *host) {
    if (!usable(host, HBF_HOST_INFO_MIN_SIZE)) return nullptr;
    return table.abi_version >= host->abi_min && table.abi_version <= host_abi_max ? &table : nullptr;
}

} // namespace hbf::inject
