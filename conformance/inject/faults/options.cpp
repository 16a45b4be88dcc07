// SPDX-License-Identifier: Apache-2.0
#include "conformance/inject/options.hpp"

#include <cstring>

#include "conformance/inject/fault.hpp"

namespace hbf::inject {
namespace {

// Those that the plugin refuses are left out, one after the other.
class UnknownOptionIgnored final : public Fault {
public:
    using Fault::Fault;

    hbf_status create(const hbf_create_in *in, hbf_error *e) override {
        const hbf_status status = below_->create(in, nullptr);
        if (status == HBF_OK) return status;
        const bool hit = status == HBF_INVALID && fires();
        for (uint32_t out = 0; hit && out < in->option_count; ++out) {
            std::vector<hbf_option> rest(in->options, in->options + in->option_count);
            rest.erase(rest.begin() + out);
            WithOptions<hbf_create_in> fewer(*in, rest);
            if (below_->create(fewer.get(), nullptr) == HBF_OK) return HBF_OK;
        }
        return below_->create(in, e);
    }
};
HBF_FAULT(UnknownOptionIgnored, "unknown-option-ignored", "create leaves out an option that it does not know");

// Memory that was taken on the way is not given back when the call fails in the end.
class FailureLeaks final : public Fault {
public:
    using Fault::Fault;

    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        return leak(below_->alloc(desc, out, e));
    }
    hbf_status create_queue(const hbf_queue_desc *desc, Queue &queue, hbf_error *e) override {
        return leak(below_->create_queue(desc, queue, e));
    }
    hbf_status create(const hbf_create_in *in, hbf_error *e) override { return leak(below_->create(in, e)); }

private:
    hbf_status leak(hbf_status status) {
        if (status != HBF_OK && fires())
            if (void *memory = std::malloc(settings().number("bytes"))) {
                std::memset(memory, 'x', settings().number("bytes"));
                asm volatile("" : : "r"(memory) : "memory");
            }
        return status;
    }
};
HBF_FAULT(FailureLeaks, "failure-leaks", "an alloc or create that fails leaves memory behind",
          {.key = "bytes", .preset = "4096", .line = "how much"});

} // namespace
} // namespace hbf::inject
