// SPDX-License-Identifier: Apache-2.0
// A snapshot for people, for programs and for Prometheus; and the answers to "why".
#pragma once

#include <string>

#include "core/output/json.hpp"
#include "tools/monitor/snapshot.hpp"

namespace hbf::tools::monitor {

// `before`, if there is one, makes rates out of counts.
std::string report_text(const Snapshot &now, const Snapshot *before = nullptr);
Json report_json(const Snapshot &now); // hbf.monitor
// Text exposition format 0.0.4 of all caches.
std::string report_metrics(const std::vector<Snapshot> &all);

// Why a block is where it is, from what the engine last wrote of it. Empty: there is no such block.
std::string why_block(const observe::View &view, const Snapshot &now, uint32_t block);
std::string why_no_hits(const Snapshot &now);
// The scheduler's state, a line a block.
std::string dump_scheduler(const observe::View &view, const Snapshot &now);

} // namespace hbf::tools::monitor
