// SPDX-License-Identifier: Apache-2.0
#include "plugins/cambricon/instance.hpp"

#include <fmt/format.h>

#include "hbf/sdk/text.hpp"
#include "plugins/cambricon/current_device.hpp"
#include "plugins/cambricon/errors.hpp"
#include "plugins/cambricon/queue/cnrt_stream.hpp"

namespace hbf::cambricon {
namespace {

// Each value in flight has CNRT queues of its own.
constexpr stream::QueueLimits limits{.max_depth = 16, .max_commands = 128, .max_queues = 16, .usual_depth = 16};

} // namespace

CambriconInstance::CambriconInstance(const Library &library, const DeviceFacts &facts, const CambriconOptions &options,
                                     const sdk::Log &log)
    : cnrt_(library.cnrt), facts_(facts) {
    set_limits(limits);
    const OnDevice on(cnrt_, facts_.ordinal);
    must_be_current();
    tiers_ = std::make_unique<Tiers>(cnrt_, facts_, options);
    log.info(fmt::format("{}: copies run no kernels of the project's: it ships none for MLU", facts_.name));
    try {
        health_ = std::make_unique<CambriconHealth>(library.dev, facts_.pci_address);
    } catch (const sdk::Failure &failure) {
        log.warning(fmt::format("{}: no health: {}{}", facts_.name, failure.message,
                                library.no_health.empty() ? "" : " (" + library.no_health + ")"));
    }
}

CambriconInstance::~CambriconInstance() {
    end();
}

// With another one current, its memory would be taken.
void CambriconInstance::must_be_current() const {
    int now = -1;
    check(cnrt_, cnrt_.GetDevice(&now), "cnrtGetDevice");
    if (now != facts_.ordinal)
        sdk::fail(HBF_DEVICE_LOST,
                  fmt::format("cnrtSetDevice does not take {} (device {}) any more", facts_.name, facts_.ordinal));
}

void CambriconInstance::describe(uint32_t, hbf_domain_info &out) const {
    out.protocol = HBF_PROTOCOL_HARDWARE;
    out.granule = 64;
    out.agents = HBF_AGENT_CPU | HBF_AGENT_COPY_ENGINE;
    sdk::set_text(out.name, "pinned");
    sdk::set_text(out.detail, "memory of the host, which the device reads and writes by PCIe: its caches are snooped");
}

std::unique_ptr<stream::Region> CambriconInstance::make(const sdk::AllocRequest &request) {
    const OnDevice on(cnrt_, facts_.ordinal);
    must_be_current();
    return tiers_->make(request);
}

std::unique_ptr<stream::Region> CambriconInstance::make_registered(void *address, uint64_t size) {
    auto made = std::make_unique<Region>();
    made->sort = Sort::registered;
    made->size = size;
    made->at = reinterpret_cast<uintptr_t>(address);
    made->host = static_cast<std::byte *>(address);
    return made;
}

std::unique_ptr<stream::StreamApi> CambriconInstance::make_stream() {
    const OnDevice on(cnrt_, facts_.ordinal);
    must_be_current();
    return std::make_unique<CnrtStream>(cnrt_, facts_.ordinal, limits.max_commands);
}

} // namespace hbf::cambricon
