// SPDX-License-Identifier: Apache-2.0
// The wrapper as a plugin: its base table, its instances, and the tables they hand out.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "conformance/inject/fault.hpp"
#include "conformance/inject/layer.hpp"

namespace hbf::inject {

// Thrown by a fault to leave through the table, all the way to the host. Everything else stops at the edge.
struct Crossing {};

// The base table, to return from hbf_plugin_query as it is or changed by a variant of the library.
const hbf_plugin &base_table();
// What a correct hbf_plugin_query does with a table.
const hbf_plugin *answer_query(const hbf_plugin &table, uint32_t host_abi_max, const hbf_host_info *host);

// The real plugin with the faults on top, the first nearest to it.
class Stack {
public:
    Stack(const hbf_plugin &plugin, std::vector<std::unique_ptr<Fault>> faults);
    void given(const void *host_struct) {
        for (const auto &fault : faults_) fault->given(host_struct);
    }
    Device &device() { return device_; }
    Layer &top() { return faults_.empty() ? static_cast<Layer &>(device_) : *faults_.back(); }
    const std::vector<std::unique_ptr<Fault>> &faults() const { return faults_; }

private:
    Device device_;
    std::vector<std::unique_ptr<Fault>> faults_;
};

class Instance {
public:
    explicit Instance(std::unique_ptr<Stack> stack);
    Instance(const Instance &) = delete;
    Instance &operator=(const Instance &) = delete;

    static Instance *of(hbf_instance *instance) { return reinterpret_cast<Instance *>(instance); }
    hbf_instance *handle() { return reinterpret_cast<hbf_instance *>(this); }
    Layer &top() { return *top_; }
    Stack &stack() { return *stack_; }
    const void *extension(std::string_view id) const; // nullptr: not one that can be wrapped, or not there

    hbf_status create_queue(const hbf_queue_desc *desc, hbf_queue **out, hbf_error *error);
    hbf_status destroy_queue(Queue &queue, hbf_error *error);

private:
    std::unique_ptr<Stack> stack_;
    Layer *top_;
    Tables tables_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Queue>> queues_;
};

// Puts the wrapper's own functions wherever `tables` has any.
void use_own_functions(Tables &tables);

} // namespace hbf::inject
