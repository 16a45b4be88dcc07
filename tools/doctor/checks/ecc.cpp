// SPDX-License-Identifier: Apache-2.0
#include <array>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/cxl.hpp"
#include "tools/doctor/kernel_facts.hpp"
#include "tools/doctor/pci.hpp"

namespace hbf::tools::doctor {
namespace {

void memory(Look &look) {
    const std::string folder = "sys/devices/system/edac/mc";
    const auto controllers = numbered(look, folder, "mc");
    if (controllers.empty())
        return look.cannot_tell("no memory controller reports errors here: no EDAC driver, memory without ECC, or a guest");
    for (const std::string &name : controllers) {
        const auto corrected = look.need_number(below(folder, name, "ce_count"));
        const auto uncorrected = look.need_number(below(folder, name, "ue_count"));
        if (uncorrected && *uncorrected > 0)
            look.fail(fmt::format("{}: {} uncorrected memory errors", name, *uncorrected));
        else if (corrected && *corrected > 0)
            look.warn(fmt::format("{}: {} corrected memory errors", name, *corrected));
        else if (corrected && uncorrected)
            look.pass(fmt::format("{}: no memory errors", name));
    }
}

void poisoned(Look &look) {
    const auto line = line_after(look, "proc/meminfo", "HardwareCorrupted");
    if (!line) return;
    const auto words = host::words(*line);
    const auto kib = words.size() == 2 && words[1] == "kB" ? host::parse_unsigned(words[0]) : std::nullopt;
    if (!kib) return look.cannot_tell(fmt::format("\"{}\" is no size", *line));
    if (*kib == 0) return look.pass("no page was taken out of use for broken memory");
    look.fail(fmt::format("{} KiB of memory are broken and were taken out of use", *kib));
}

// "ue: 0\nce: 0"
void judge_counts(Look &look, const Pci &pci, const std::string &file) {
    const auto text = look.need_text(file);
    if (!text) return;
    const auto words = host::words(*text);
    if (words.size() != 4 || words[0] != "ue:" || words[2] != "ce:" || !host::parse_unsigned(words[1]) ||
        !host::parse_unsigned(words[3]))
        return look.garbled(file, "\"ue: N\" and \"ce: N\"");
    if (words[1] != "0")
        look.fail(fmt::format("{}: {} uncorrected memory errors", pci.name(), words[1]));
    else if (words[3] != "0")
        look.warn(fmt::format("{}: {} corrected memory errors", pci.name(), words[3]));
    else
        look.pass(fmt::format("{}: no memory errors", pci.name()));
}

void devices(Look &look) {
    const auto all = accelerators(look);
    if (!any(look, all, "accelerator")) return;
    for (const Pci &pci : all) {
        const std::string file = pci.path + "/ras/umc_err_count";
        if (look.exists(file, Look::Show::no)) {
            judge_counts(look, pci, file);
            continue;
        }
        const Vendor *vendor = vendor_of(pci.vendor);
        look.cannot_tell(fmt::format("{}: the kernel shows no error counts; {} does", pci.name(),
                                     vendor ? vendor->ecc_tell : std::string_view("its maker's tool")));
    }
}

// What drivers and processors write when hardware fails: "NVRM: Xid (PCI:0000:3b:00): 79, ...".
struct Trouble {
    std::string_view text, and_text;
    Verdict verdict;
    std::string_view what;
};
constexpr Trouble troubles[] = {
    {"NVRM: Xid", ": 48,", Verdict::fail, "double bit error (Xid 48)"},
    {"NVRM: Xid", ": 63,", Verdict::warn, "memory was remapped (Xid 63)"},
    {"NVRM: Xid", ": 64,", Verdict::fail, "memory could not be remapped (Xid 64)"},
    {"NVRM: Xid", ": 74,", Verdict::fail, "link between devices failed (Xid 74)"},
    {"NVRM: Xid", ": 79,", Verdict::fail, "device fell off the bus (Xid 79)"},
    {"NVRM: Xid", ": 92,", Verdict::warn, "many single bit errors (Xid 92)"},
    {"NVRM: Xid", ": 94,", Verdict::fail, "contained memory error (Xid 94)"},
    {"NVRM: Xid", ": 95,", Verdict::fail, "uncontained memory error (Xid 95)"},
    {"NVRM: Xid", ": 119,", Verdict::fail, "the device's own processor does not answer (Xid 119)"},
    {"[Hardware Error]", "Uncorrected", Verdict::fail, "uncorrected hardware error"},
    {"[Hardware Error]", "Corrected error", Verdict::warn, "corrected hardware error"},
    {"Memory failure:", "", Verdict::fail, "page of broken memory"},
};

void log(Look &look) {
    const auto lines = kernel_log(look);
    if (!lines) return;
    size_t count = 0;
    for (const std::string &line : lines->lines)
        for (const Trouble &trouble : troubles) {
            if (line.find(trouble.text) == std::string::npos || line.find(trouble.and_text) == std::string::npos) continue;
            look.seen(fmt::format("message {}", ++count), line);
            look.say(trouble.verdict, std::string(trouble.what));
            break;
        }
    if (count > 0) return;
    if (lines->whole) return look.pass("the kernel reported no failing hardware since it started");
    look.cannot_tell("no failing hardware in what is left of the kernel's log; its beginning was overwritten");
}

constexpr std::array checks = {
    Check{
        "ecc.memory", "memory controllers count no errors", "sys/devices/system/edac/mc/mc*/{ce,ue}_count",
        "each corrected error was wrong data, put right; an uncorrected one was not. hbf conformance compares these counts "
        "before and after a run",
        "find the module by its label (edac-util -v, ras-mc-ctl --errors), replace it, and run hbf corruption", memory},
    Check{"ecc.broken_pages", "no page is known to be broken", "proc/meminfo (HardwareCorrupted)",
          "memory that failed once is likely to fail beside it",
          "replace the module; a reboot gives the pages back to whoever asks first", poisoned},
    Check{"ecc.accelerators", "accelerators count no memory errors", "sys/bus/pci/devices/*/ras/umc_err_count",
          "errors that are pending, rows that wait to be remapped and retired pages show only in the device's own counts",
          "reset the device so that pending remaps take effect; send back one whose uncorrected errors come again", devices},
    Check{"ecc.kernel_log", "the kernel reports no failing hardware", "dev/kmsg",
          "devices that failed since the machine started may work on with wrong data",
          "reset the device or the machine, and look whether it comes again", log},
};

} // namespace

std::span<const Check> ecc_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
