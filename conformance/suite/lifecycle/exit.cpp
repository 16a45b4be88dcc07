// SPDX-License-Identifier: Apache-2.0
// A process may exit with instances open: no destructor of the plugin touches them, and the exit comes.
#include <algorithm>

#include "conformance/suite/bytes.hpp"
#include "conformance/suite/context.hpp"
#include "conformance/suite/forked.hpp"

namespace hbf::conformance {
namespace {

constexpr double limit_s = 15;

HBF_CASE("lifecycle.process_exit_without_shutdown", {.rules = {"HBF-LIFE-8"}, .kills = {"exit_hangs"}}) {
    Subject &subject = context.subject();
    for (const bool busy : {false, true}) {
        const Forked child = run_forked(
            [&] {
                static Instance *open = nullptr; // reachable to the end: it is left, not leaked
                open = subject.must_create().release();
                hbf_queue *const queue = open->must_create_queue();
                const uint32_t tier = open->dma_tiers().at(0);
                const uint64_t bytes = std::min<uint64_t>(open->tier(tier).capacity / 8, 8 << 20);
                const hbf_region_info from = open->must_alloc(tier, bytes), to = open->must_alloc(tier, bytes);
                open->must_run(queue, {fill_command(from.region, 0, bytes, 7, 1)});
                for (int i = 0; busy && i < 4; ++i)
                    open->must_submit(queue, {copy_command(to.region, 0, from.region, 0, bytes)});
                return std::string();
            },
            limit_s, Ending::through_exit);
        context.check(child.trouble().empty(), "a process that exits with an instance open{}: {}",
                      busy ? " and work on its way" : "", child.trouble());
    }
}

} // namespace
} // namespace hbf::conformance
