// SPDX-License-Identifier: Apache-2.0
#include "plugins/cambricon/health.hpp"

#include <optional>

#include <fmt/format.h>

#include "hbf/sdk/text.hpp"

namespace hbf::cambricon {
namespace {

// A struct's layout has a version, and a library refuses those that it does not know: the newest first.
using Ask = int (*)(CndevBlock *, int);
std::optional<CndevBlock> ask(Ask function, int device) {
    if (!function) return std::nullopt;
    for (int version = 6; version > 0; --version) {
        CndevBlock block;
        block.version = version;
        const int code = function(&block, device);
        if (code == cndev_ok) return block;
        if (code != cndev_unsupported_version) break;
    }
    return std::nullopt;
}

class Readings {
public:
    void counter(const char *name, uint64_t value, const char *unit) { add(HBF_READING_COUNTER, name, value, unit); }
    void gauge(const char *name, int64_t value, const char *unit) {
        if (value >= 0) add(HBF_READING_GAUGE, name, static_cast<uint64_t>(value), unit);
    }
    std::vector<hbf_reading> take() { return std::move(list_); }

private:
    void add(hbf_reading_kind kind, const char *name, uint64_t value, const char *unit) {
        hbf_reading &reading = list_.emplace_back();
        reading.struct_size = sizeof reading;
        reading.kind = kind;
        reading.value = value;
        sdk::set_text(reading.name, name);
        sdk::set_text(reading.unit, unit);
    }
    std::vector<hbf_reading> list_;
};

// Members behind `version`: 4-byte ones by their place in `words`, 8-byte ones by `wide`.
void read_ecc(Readings &out, const CndevBlock &ecc) { // cndevECCInfo_t
    out.counter("ecc.corrected", ecc.wide(4), "errors");
    out.counter("ecc.uncorrected", ecc.wide(5), "errors");
    out.counter("ecc.addresses_forbidden", ecc.wide(7), "errors");
}
void read_rows(Readings &out, const CndevBlock &rows) { // cndevRemappedRow_t
    out.counter("memory.rows_remapped_corrected", static_cast<uint32_t>(rows.words[0]), "rows");
    out.counter("memory.rows_remapped_uncorrected", static_cast<uint32_t>(rows.words[1]), "rows");
}
void read_temperature(Readings &out, const CndevBlock &temperature) { // cndevTemperatureInfo_t
    out.gauge("temperature.board", temperature.words[0], "celsius");
    out.gauge("temperature.chip", temperature.words[1 + 20 + 8], "celsius"); // after clusters and memory dies
    out.gauge("temperature.memory", temperature.words[1 + 20 + 8 + 3], "celsius");
}
void read_link(Readings &out, const CndevBlock &link) { // cndevCurrentPCIInfo_t
    out.gauge("pcie.generation", link.words[0], "");
    out.gauge("pcie.width", link.words[1], "lanes");
}

} // namespace

CambriconHealth::CambriconHealth(const Cndev &dev, const std::string &pci_address) : dev_(dev) {
    if (!dev.Init) sdk::fail(HBF_UNAVAILABLE, "there is no CNDev");
    if (const int code = dev.Init(0); code != cndev_ok) sdk::fail(HBF_UNAVAILABLE, fmt::format("cndevInit: {}", code));
    if (const int code = dev.GetDeviceHandleByPciBusId(pci_address.c_str(), &device_); code != cndev_ok)
        sdk::fail(HBF_UNAVAILABLE, fmt::format("cndevGetDeviceHandleByPciBusId of {}: {}", pci_address, code));
}

std::vector<hbf_reading> CambriconHealth::read() {
    Readings out;
    if (const auto ecc = ask(dev_.GetECCInfo, device_)) read_ecc(out, *ecc);
    if (const auto replays = ask(dev_.GetPcieReplayCounter, device_))
        out.counter("pcie.replays", static_cast<uint32_t>(replays->words[0]), "replays");
    if (const auto rows = ask(dev_.GetRemappedRows, device_)) read_rows(out, *rows);
    if (const auto temperature = ask(dev_.GetTemperatureInfo, device_)) read_temperature(out, *temperature);
    if (const auto link = ask(dev_.GetCurrentPCIInfo, device_)) read_link(out, *link);
    if (const auto health = ask(dev_.GetCardHealthState, device_)) out.gauge("healthy", health->words[0], "");
    return out.take();
}

} // namespace hbf::cambricon
