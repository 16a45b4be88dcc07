// SPDX-License-Identifier: Apache-2.0
#include "plugins/nvidia/peers/peers.hpp"

#include <map>
#include <mutex>

#include <fmt/format.h>

#include "plugins/nvidia/errors.hpp"

namespace hbf::nvidia {
namespace {

struct Known {
    std::mutex mutex;
    std::map<std::string, Verdict> pairs;
};
// Never destroyed: a process may exit while instances live.
Known &known() {
    static Known *const one = new Known;
    return *one;
}

Verdict verdict_of(Context &own, const DeviceFacts &facts, stream::KernelLoader *loader) {
    const std::string pair = own.facts.uuid + own.facts.pci_address + ">" + facts.uuid + facts.pci_address;
    Known &all = known();
    const std::lock_guard lock(all.mutex); // one at a time: two that try the same pair would overwrite each other's
    if (const auto found = all.pairs.find(pair); found != all.pairs.end()) return found->second;
    Verdict verdict;
    try {
        Context peer(own.cuda, facts);
        verdict = try_peer(own, peer, loader);
    } catch (const sdk::Failure &failure) {
        verdict.why = failure.message;
    }
    return all.pairs.emplace(pair, verdict).first->second;
}

} // namespace

std::vector<Peer> find_peers(Context &own, stream::KernelLoader *loader, const sdk::Log &log) {
    std::vector<Peer> out;
    int count = 0;
    check(own.cuda, own.cuda.DeviceGetCount(&count), "cuDeviceGetCount");
    for (int ordinal = 0; ordinal < count; ++ordinal) {
        if (ordinal == own.facts.ordinal) continue;
        std::string who = fmt::format("device {}", ordinal);
        try {
            const DeviceFacts facts = read_facts(own.cuda, ordinal);
            who = fmt::format("{} at {}", facts.name, facts.pci_address.empty() ? who : facts.pci_address);
            int can = 0;
            check(own.cuda, own.cuda.DeviceCanAccessPeer(&can, own.facts.device, facts.device), "cuDeviceCanAccessPeer");
            if (can == 0 || !facts.virtual_memory) {
                log.info(fmt::format("no tier in {}: {}", who,
                                     can == 0 ? "the driver gives no peer access (cuDeviceCanAccessPeer)"
                                              : "it has no virtual memory management"));
                continue;
            }
            const Verdict verdict = verdict_of(own, facts, loader);
            if (verdict.stuck && own.stuck()) {
                log.warning(fmt::format("no tier in {}: {}; others are not tried", who, verdict.why));
                break;
            }
            if (!verdict.copies) {
                log.warning(
                    fmt::format("no tier in {}: the driver offers peer access, but it does not hold: {}", who, verdict.why));
                continue;
            }
            if (!verdict.kernels)
                log.warning(fmt::format("{}: peer access by commands only, not by kernels: {}", who, verdict.why));
            out.push_back({facts.device, facts.memory, verdict.kernels,
                           fmt::format("memory of {}, reached as a peer; {}", who,
                                       verdict.kernels ? "tried at open by copies and by a kernel, both ways, over a canary"
                                                       : "tried at open by copies, both ways, over a canary; kernels do not "
                                                         "reach it")});
        } catch (const sdk::Failure &failure) {
            log.warning(fmt::format("no tier in {}: {}", who, failure.message));
        }
    }
    return out;
}

} // namespace hbf::nvidia
