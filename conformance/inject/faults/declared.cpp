// SPDX-License-Identifier: Apache-2.0
// Capabilities that are declared and not there, or there and not declared.
#include "conformance/inject/commands.hpp"
#include "conformance/inject/fault.hpp"
#include "hbf/sdk/shell/guard.hpp"

namespace hbf::inject {
namespace {

using sdk::shell::refuse;

const std::vector<std::string_view> capabilities = {"cancel", "crc",       "launch", "launch-bit", "register",   "export",
                                                    "import", "coherence", "health", "persistent", "third-party"};
const Parameter which{.key = "what", .kind = Parameter::word, .preset = "cancel", .line = "which", .choices = capabilities};

// For the table: there is a function, whatever it does.
template <class F>
void present(F &function) {
    if (!function) function = reinterpret_cast<F>(uintptr_t{1});
}

uint32_t queue_bit(std::string_view what) {
    return what == "cancel"             ? HBF_QUEUE_CAP_CANCEL
           : what == "crc"              ? HBF_QUEUE_CAP_CRC32C
           : what.starts_with("launch") ? HBF_QUEUE_CAP_LAUNCH
                                        : 0;
}

class DeclaredMissing final : public Fault {
public:
    using Fault::Fault;

    void shape(Tables &tables) override {
        below_->shape(tables);
        if (is("cancel")) present(tables.queue.cancel);
        if (is("register")) present(tables.tier.register_host);
        if (is("export")) present(tables.tier.export_region), present(tables.tier.import_region);
        if (is("import")) tables.tier.export_region = nullptr, present(tables.tier.import_region);
        if (is("launch") && !tables.has_kernels) {
            tables.has_kernels = true;
            tables.kernels.struct_size = sizeof tables.kernels;
            present(tables.kernels.find);
            present(tables.kernels.name);
        }
        if (is("launch-bit")) tables.has_kernels = false;
        if (is("health") && !tables.has_health) {
            tables.has_health = true;
            tables.health.struct_size = sizeof tables.health;
            present(tables.health.read);
        }
        if (is("coherence") && !tables.has_coherence) {
            tables.has_coherence = true;
            tables.coherence.struct_size = sizeof tables.coherence;
            tables.coherence.domain_count = 1;
            present(tables.coherence.describe);
        }
    }
    hbf_status queue_info(hbf_queue_info *out, hbf_error *e) override {
        const hbf_status status = below_->queue_info(out, e);
        if (status != HBF_OK || !usable(out, HBF_QUEUE_INFO_MIN_SIZE)) return status;
        out->capabilities |= queue_bit(settings().text("what"));
        if (is("third-party")) out->visibility |= HBF_VISIBLE_THIRD_PARTY;
        return status;
    }
    hbf_status describe_tier(uint32_t tier, hbf_tier_info *out, hbf_error *e) override {
        const hbf_status status = below_->describe_tier(tier, out, e);
        if (status == HBF_OK && is("persistent") && usable(out, HBF_TIER_INFO_MIN_SIZE))
            out->flags |= HBF_TIER_FLAG_PERSISTENT;
        return status;
    }
    hbf_status cancel(Queue &queue, uint64_t value, hbf_error *e) override {
        return is("cancel") ? no(e) : below_->cancel(queue, value, e);
    }
    hbf_status register_host(void *address, uint64_t size, hbf_region_info *out, hbf_error *e) override {
        if (!is("register")) return below_->register_host(address, size, out, e);
        return without(out, e);
    }
    hbf_status export_region(hbf_region region, void *handle, uint64_t *size, hbf_error *e) override {
        return is("export") ? no(e) : below_->export_region(region, handle, size, e);
    }
    hbf_status import_region(const void *handle, uint64_t size, hbf_region_info *out, hbf_error *e) override {
        return is("export") ? without(out, e) : below_->import_region(handle, size, out, e);
    }
    hbf_status alloc(const hbf_alloc_desc *desc, hbf_region_info *out, hbf_error *e) override {
        const bool named = usable(desc, HBF_ALLOC_DESC_MIN_SIZE) && desc->name.size > 0;
        return is("persistent") && named ? without(out, e) : below_->alloc(desc, out, e);
    }
    hbf_status describe_domain(uint32_t domain, hbf_domain_info *out, hbf_error *e) override {
        return is("coherence") ? no(e) : below_->describe_domain(domain, out, e);
    }
    hbf_status find_kernel(hbf_string name, hbf_kernel_info *out, hbf_error *e) override {
        return is("launch") ? no(e) : below_->find_kernel(name, out, e);
    }
    hbf_status read_health(hbf_reading *readings, uint64_t stride, uint32_t capacity, uint32_t *count,
                           hbf_error *e) override {
        if (!is("health")) return below_->read_health(readings, stride, capacity, count, e);
        if (count) *count = 0;
        return no(e);
    }
    hbf_status submit(Queue &queue, const hbf_batch *batch, uint64_t *out_value, hbf_error *e) override {
        for (uint64_t i = 0; (is("crc") || is("launch")) && readable(queue, batch) && i < batch->command_count; ++i) {
            const hbf_command &command = command_at(*batch, i);
            const bool crc = command.kind == HBF_COMMAND_COPY && (command.flags & HBF_COPY_CRC32C);
            if (is("crc") ? !crc : command.kind != HBF_COMMAND_LAUNCH) continue;
            if (out_value) *out_value = 0;
            return no(e);
        }
        return below_->submit(queue, batch, out_value, e);
    }

private:
    bool is(std::string_view what) const { return settings().text("what") == what; }
    static hbf_status no(hbf_error *e) { return refuse(e, HBF_UNSUPPORTED, "this device cannot do that"); }
    static hbf_status without(hbf_region_info *out, hbf_error *e) {
        if (usable(out, HBF_REGION_INFO_MIN_SIZE)) out->region = 0;
        return no(e);
    }
};
HBF_FAULT(DeclaredMissing, "declared-missing", "a capability is declared, and using it says HBF_UNSUPPORTED", which);

class WorksUndeclared final : public Fault {
public:
    using Fault::Fault;

    void shape(Tables &tables) override {
        below_->shape(tables);
        const std::string &what = settings().text("what");
        if (what == "launch") tables.has_kernels = false;
        if (what == "health") tables.has_health = false;
        if (what == "coherence") tables.has_coherence = false;
        if (what == "register") tables.tier.register_host = nullptr;
        if (what == "export") tables.tier.export_region = nullptr, tables.tier.import_region = nullptr;
    }
    hbf_status queue_info(hbf_queue_info *out, hbf_error *e) override {
        const hbf_status status = below_->queue_info(out, e);
        if (status != HBF_OK || !usable(out, HBF_QUEUE_INFO_MIN_SIZE)) return status;
        out->capabilities &= ~queue_bit(settings().text("what"));
        if (settings().text("what") == "third-party") out->visibility &= ~HBF_VISIBLE_THIRD_PARTY;
        return status;
    }
    hbf_status describe_tier(uint32_t tier, hbf_tier_info *out, hbf_error *e) override {
        const hbf_status status = below_->describe_tier(tier, out, e);
        if (status == HBF_OK && settings().text("what") == "persistent" && usable(out, HBF_TIER_INFO_MIN_SIZE))
            out->flags &= ~HBF_TIER_FLAG_PERSISTENT;
        return status;
    }
};
HBF_FAULT(WorksUndeclared, "works-undeclared", "a capability is not declared, and works where that can be tried", which);

class HealthSilent final : public Fault {
public:
    using Fault::Fault;

    hbf_status read_health(hbf_reading *readings, uint64_t stride, uint32_t capacity, uint32_t *count,
                           hbf_error *e) override {
        const hbf_status status = below_->read_health(readings, stride, capacity, count, e);
        if (status != HBF_OK || !readings || !count || !fires()) return status;
        for (uint32_t i = 0; i < std::min(*count, capacity); ++i) {
            auto &reading = *reinterpret_cast<hbf_reading *>(reinterpret_cast<std::byte *>(readings) + i * stride);
            if (reading.kind == HBF_READING_COUNTER) reading.value = 0;
        }
        return status;
    }
};
HBF_FAULT(HealthSilent, "corrupt-not-reported", "the device's error counters stay 0, whatever happens");

} // namespace
} // namespace hbf::inject
