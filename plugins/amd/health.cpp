// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/health.hpp"

#include <utility>

#include <fmt/format.h>

#include "hbf/sdk/text.hpp"

namespace hbf::amd {
namespace {

// rsmi_gpu_block_t: a bit each.
constexpr std::pair<const char *, uint64_t> blocks[] = {{"umc", 1},    {"sdma", 2},         {"gfx", 4},
                                                        {"mmhub", 8},  {"athub", 0x10},     {"pcie_bif", 0x20},
                                                        {"hdp", 0x40}, {"xgmi_wafl", 0x80}, {"df", 0x100}};

// domain << 32 | bus << 8 | device << 3 | function. Bits 28 to 31 are the partition's number on devices that have some.
std::string address_of(uint64_t bdf) {
    return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", bdf >> 32, bdf >> 8 & 0xff, bdf >> 3 & 0x1f, bdf & 7);
}

class Readings {
public:
    void add(hbf_reading_kind kind, std::string_view name, uint64_t value, std::string_view unit) {
        hbf_reading reading{};
        reading.struct_size = sizeof reading;
        reading.kind = kind;
        reading.value = value;
        sdk::set_text(reading.name, name);
        sdk::set_text(reading.unit, unit);
        all.push_back(reading);
    }
    void counter(std::string_view name, uint64_t value, std::string_view unit = "errors") {
        add(HBF_READING_COUNTER, name, value, unit);
    }
    void gauge(std::string_view name, uint64_t value, std::string_view unit) { add(HBF_READING_GAUGE, name, value, unit); }
    std::vector<hbf_reading> all;
};

void read_ecc(const Smi &smi, uint32_t index, Readings &out) {
    if (!smi.dev_ecc_count_get) return;
    uint64_t enabled = 0;
    if (!smi.dev_ecc_enabled_get || smi.dev_ecc_enabled_get(index, &enabled) != 0) enabled = ~uint64_t{0};
    for (const auto &[name, block] : blocks) {
        ErrorCount count{};
        if ((enabled & block) == 0 || smi.dev_ecc_count_get(index, block, &count) != 0) continue;
        out.counter(fmt::format("ecc.{}.ce_count", name), count.correctable);
        out.counter(fmt::format("ecc.{}.ue_count", name), count.uncorrectable);
    }
}

void read_links(const Smi &smi, uint32_t index, Readings &out) {
    uint64_t replays = 0;
    if (smi.dev_pci_replay_counter_get && smi.dev_pci_replay_counter_get(index, &replays) == 0)
        out.counter("pcie.replay_count", replays, "replays");
    uint32_t state = 0;
    if (smi.dev_xgmi_error_status && smi.dev_xgmi_error_status(index, &state) == 0)
        out.gauge("xgmi.error_status", state, "0 none"); // 1 one, 2 several: since somebody reset it
    uint32_t pages = 0;
    if (smi.dev_memory_reserved_pages_get && smi.dev_memory_reserved_pages_get(index, &pages, nullptr) == 0)
        out.counter("memory.retired_pages", pages, "pages");
}

void read_gauges(const Smi &smi, uint32_t index, Readings &out) {
    constexpr std::pair<const char *, uint32_t> sensors[] = {{"edge", 0}, {"junction", 1}, {"memory", 2}};
    for (const auto &[name, sensor] : sensors) {
        int64_t millidegrees = 0;
        if (smi.dev_temp_metric_get && smi.dev_temp_metric_get(index, sensor, 0, &millidegrees) == 0 && millidegrees >= 0)
            out.gauge(fmt::format("temperature.{}", name), static_cast<uint64_t>(millidegrees) / 1000, "celsius");
    }
    uint64_t value = 0;
    if (smi.dev_power_ave_get && smi.dev_power_ave_get(index, 0, &value) == 0) // microwatts
        out.gauge("power.average", value / 1'000'000, "watts");
    constexpr uint32_t vram = 0;
    if (smi.dev_memory_usage_get && smi.dev_memory_usage_get(index, vram, &value) == 0)
        out.gauge("memory.used", value, "bytes");
}

} // namespace

std::unique_ptr<Health> Health::open(const std::string &pci_address, std::string &why) {
    const Smi *const table = smi(why);
    if (!table) return nullptr;
    uint32_t count = 0;
    if (const int code = table->num_monitor_devices(&count); code != 0) {
        why = fmt::format("rsmi_num_monitor_devices gives status {}", code);
        return nullptr;
    }
    for (uint32_t i = 0; i < count; ++i) {
        uint64_t bdf = 0;
        if (table->dev_pci_id_get(i, &bdf) == 0 && address_of(bdf) == pci_address)
            return std::unique_ptr<Health>(new Health(*table, i));
    }
    why = fmt::format("ROCm SMI knows {} devices, none of them at {}", count, pci_address);
    return nullptr;
}

std::vector<hbf_reading> Health::read() {
    Readings out;
    read_ecc(smi_, index_, out);
    read_links(smi_, index_, out);
    read_gauges(smi_, index_, out);
    return std::move(out.all);
}

std::string Health::partitions() const {
    std::string out;
    for (auto *const ask : {smi_.dev_memory_partition_get, smi_.dev_compute_partition_get}) {
        char text[64] = {};
        if (!ask || ask(index_, text, sizeof text - 1) != 0 || text[0] == '\0') continue;
        out += fmt::format("{}{}", out.empty() ? "" : ", ", text);
    }
    return out;
}

} // namespace hbf::amd
