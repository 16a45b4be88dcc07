// SPDX-License-Identifier: Apache-2.0
// Storage and network that reach an accelerator's memory directly.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/host/parse.hpp"
#include "tools/doctor/check.hpp"
#include "tools/doctor/pci.hpp"

namespace hbf::tools::doctor {
namespace {

const std::string stats = "proc/driver/nvidia-fs/stats", settings = "etc/cufile.json";

bool any_nvidia(Look &look) {
    const auto devices = accelerators(look);
    return std::any_of(devices.begin(), devices.end(), [](const Pci &pci) {
        const Vendor *vendor = vendor_of(pci.vendor);
        return vendor && vendor->name == "NVIDIA";
    });
}

void storage(Look &look) {
    if (!any_nvidia(look)) return look.not_applicable("this machine has no device that storage reaches directly (GDS)");
    const auto text = look.text(stats);
    if (!text) {
        if (!look.exists(stats)) look.not_applicable("the module nvidia-fs is not loaded: reads go through host memory");
        return;
    }
    if (text->find("GDS Version") == std::string::npos && text->find("NVFS") == std::string::npos)
        return look.garbled(stats, "the counts of nvidia-fs");
    look.pass("the module nvidia-fs is loaded");
}

// JSON with comments: "allow_compat_mode": true
void fallback(Look &look) {
    if (!any_nvidia(look)) return look.not_applicable("this machine has no device that storage reaches directly (GDS)");
    if (!look.exists(stats)) return look.not_applicable("the module nvidia-fs is not loaded");
    const auto text = look.need_text(settings, Look::Form::text, Look::Show::no);
    if (!text) return;
    for (const std::string_view line : host::lines(*text)) {
        const std::string_view rest = host::trimmed(line);
        constexpr std::string_view key = "\"allow_compat_mode\"";
        if (!rest.starts_with(key)) continue; // comments begin with //
        look.seen(look.full(settings), std::string(rest));
        if (rest.find("false") != std::string_view::npos) return look.pass("reads that cannot go directly are refused");
        if (rest.find("true") == std::string_view::npos) break;
        look.warn("reads that cannot go directly go through host memory, and nobody says so");
        look.fix("sed -i 's/\"allow_compat_mode\": true/\"allow_compat_mode\": false/' /etc/cufile.json",
                 "what cannot go directly fails instead", true);
        return;
    }
    look.cannot_tell(look.full(settings) + ": no line \"allow_compat_mode\": true or false");
}

void network(Look &look) {
    auto cards = pci_devices(look);
    const bool device = std::any_of(cards.begin(), cards.end(), [](const Pci &pci) { return pci.accelerator(); });
    std::erase_if(cards, [](const Pci &pci) { return !pci.rdma(); });
    if (cards.empty() || !device) return look.not_applicable("this machine has no InfiniBand card beside an accelerator");
    for (const char *module : {"nvidia_peermem", "nv_peer_mem", "amdkfd", "cambricon_peermem"})
        if (look.exists(fmt::format("sys/module/{}", module)))
            return look.pass(fmt::format("the module {} is loaded", module));
    look.cannot_tell("no module for it is loaded; whether card and driver share memory as dma-buf is seen when it is tried");
}

constexpr std::array checks = {
    Check{"direct.storage", "storage reaches device memory directly", "proc/driver/nvidia-fs/stats",
          "without the module every read takes the way through host memory", "load nvidia-fs if direct reads are wanted",
          storage},
    Check{"direct.storage_fallback", "no silent fallback to buffered reads", "etc/cufile.json",
          "unaligned requests silently go through the page cache: slower, and mixed with direct ones they can lose data",
          "set allow_compat_mode to false, so that what cannot go directly fails", fallback},
    Check{"direct.network", "cards reach device memory directly", "sys/module/*peermem",
          "without it messages are copied through host memory; with it their arrival does not make data visible by itself",
          "load the module, or use dma-buf; flush before reading what a card wrote", network},
};

} // namespace

std::span<const Check> direct_checks() {
    return checks;
}

} // namespace hbf::tools::doctor
