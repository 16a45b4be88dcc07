// SPDX-License-Identifier: Apache-2.0
#include "tools/monitor/report.hpp"

namespace hbf::tools::monitor {

Json report_json(const Snapshot &now) {
    auto counters = Json::object();
    for (size_t i = 0; i < now.counters.size(); ++i) counters.set(counter_name(i), now.counters[i]);
    auto tiers = Json::array();
    for (const TierNow &tier : now.tiers) {
        auto bands = Json::object();
        for (unsigned i = 0; i < tier.bands.size(); ++i) bands.set(band_name(i), tier.bands[i]);
        tiers.push(Json::object({{"name", tier.name},
                                 {"memory", tier.medium},
                                 {"emulated", tier.emulated},
                                 {"capacity_bytes", tier.capacity},
                                 {"used_bytes", tier.used},
                                 {"fragmentation", tier.fragmentation()},
                                 {"blocks", tier.blocks},
                                 {"pinned", tier.pinned},
                                 {"bands", now.scored() ? bands : Json()}}));
    }
    auto threads = Json::array(), locks = Json::array(), moves = Json::array();
    for (const ThreadNow &thread : now.threads)
        threads.push(Json::object(
            {{"name", thread.name}, {"tid", thread.tid}, {"rounds", thread.beats}, {"idle_seconds", thread.idle_seconds}}));
    for (const LockNow &lock : now.locks)
        locks.push(Json::object({{"name", lock.name},
                                 {"holder_tid", lock.holder != 0 ? Json(lock.holder) : Json()},
                                 {"held_seconds", lock.held_seconds},
                                 {"waiting", lock.waiting}}));
    for (const auto &event : now.events)
        moves.push(Json::object({{"number", event.number},
                                 {"block", event.block},
                                 {"from", tier_name(event.from)},
                                 {"to", tier_name(event.to)},
                                 {"reason", reason_name(event.reason)},
                                 {"outcome", outcome_name(event.outcome)},
                                 {"bytes", uint64_t{event.granules} * 65536},
                                 {"took_ns", event.took_ns}}));
    const Scheduler &s = now.scheduler;
    const auto scheduler = Json::object({{"t_hbm", s.t_hbm},
                                         {"t_hbf", s.t_hbf},
                                         {"t_cold", s.t_cold},
                                         {"device_memory_nearly_full", s.full},
                                         {"many_sequences", s.crowded},
                                         {"half_life_requests", Json(s.half_life)},
                                         {"half_life_adapted", s.adapted},
                                         {"sequences", s.sequences},
                                         {"queries", s.queries}});
    return Json::object({{"schema", "hbf.monitor"},
                         {"version", 1},
                         {"pid", now.pid},
                         {"program", now.process.program},
                         {"state", state_name(now.process.state)},
                         {"model", now.name},
                         {"policy", now.policy},
                         {"emulated", now.emulated()},
                         {"open_seconds", now.open_seconds},
                         {"tiers", tiers},
                         {"counters", counters},
                         {"scheduler", scheduler},
                         {"threads", threads},
                         {"locks", locks},
                         {"moves", moves},
                         {"moves_ever", now.moves},
                         {"half_written_blocks", now.half_written}});
}

} // namespace hbf::tools::monitor
