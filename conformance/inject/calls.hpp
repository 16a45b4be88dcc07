// SPDX-License-Identifier: Apache-2.0
// Base of faults that do the same to the outcome of every call, or of those that `call` names.
#pragma once

#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"

namespace hbf::inject {

enum class CallName {
    any,
    probe,
    create,
    describe,
    alloc,
    free,
    import,
    info,
    queue,
    submit,
    poll,
    wait,
    cancel,
    failure,
    find,
    read
};

namespace parameter {
inline const Parameter call{.key = "call",
                            .kind = Parameter::word,
                            .preset = "any",
                            .line = "in which function",
                            .choices = {"any", "probe", "create", "describe", "alloc", "free", "import", "info", "queue",
                                        "submit", "poll", "wait", "cancel", "failure", "find", "read"}};
} // namespace parameter

// One call as it went, and what it writes: `out` begins with a struct_size, where the call has such an output.
struct CallResult {
    CallName name = CallName::any;
    hbf_status status = HBF_OK;
    hbf_error *error = nullptr;
    void *out = nullptr;      // sized struct, or nullptr
    uint32_t known_size = 0;  // sizeof, as this version knows it
    const void *in = nullptr; // sized struct that went in, or nullptr
    uint32_t in_known_size = 0;
    uint64_t *handle = nullptr; // region, kernel or value that it gives
};

class CallFault : public Fault {
public:
    explicit CallFault(const Settings &settings);

    hbf_status probe(const hbf_probe_in *in, hbf_probe_out *out, hbf_error *e) override;
    hbf_status create(const hbf_create_in *in, hbf_error *e) override;
    hbf_status describe_tier(uint32_t tier, hbf_tier_info *out, hbf_error *e) override;
    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override;
    hbf_status free(hbf_region region, hbf_error *e) override;
    hbf_status register_host(void *address, uint64_t size, hbf_region_info *out, hbf_error *e) override;
    hbf_status import_region(const void *handle, uint64_t size, hbf_region_info *out, hbf_error *e) override;
    hbf_status queue_info(hbf_queue_info *out, hbf_error *e) override;
    hbf_status create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) override;
    hbf_status destroy_queue(Queue &queue, hbf_error *e) override;
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override;
    hbf_status poll(Queue &queue, hbf_progress *out) override;
    hbf_status wait(Queue &queue, uint64_t value, uint64_t timeout_ns, hbf_error *e) override;
    hbf_status cancel(Queue &queue, uint64_t value, hbf_error *e) override;
    hbf_status failure(Queue &queue, hbf_error *e) override;
    hbf_status describe_domain(uint32_t domain, hbf_domain_info *out, hbf_error *e) override;
    hbf_status find_kernel(hbf_string name, hbf_kernel_info *out, hbf_error *e) override;
    hbf_status read_health(hbf_reading *readings, uint64_t stride, uint32_t capacity, uint32_t *count,
                           hbf_error *e) override;

protected:
    // Before the plugin is asked. A status other than HBF_OK is the answer, and the plugin is not asked.
    virtual hbf_status before(const CallResult &) { return HBF_OK; }
    // After it: may change the outputs, and the status.
    virtual void after(CallResult &) {}

private:
    template <class Body>
    hbf_status around(CallResult call, Body &&body);

    CallName only_ = CallName::any;
};

} // namespace hbf::inject
