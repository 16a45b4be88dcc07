// SPDX-License-Identifier: Apache-2.0
// The same choice each time, whatever order the disk lists files in.
#include <algorithm>
#include <cstdlib>

#include "conformance/suite/select/selecting.hpp"

namespace hbf::conformance {
namespace {

namespace fs = std::filesystem;

struct Member {
    const char *name, *extra;
};
constexpr Member members[] = {{"alpha", ""},
                              {"better", ""}, // its version is 1.10.0, the others' 1.9.0
                              {"good", ""},
                              {"zeta", "priority = 5\n"},
                              {"omega", "priority = 5\n"},
                              {"query_null", ""},
                              {"needs_device", "[needs]\npci = [\"fffe:*\"]\n"}};
constexpr const char *due[] = {"omega", "zeta", "better", "alpha", "good"};

std::vector<std::string> order_of(const Selection &selection) {
    std::vector<std::string> order;
    for (const Candidate &candidate : selection.candidates)
        order.push_back(fmt::format("{} {}", candidate.name, to_string(candidate.reason)));
    return order;
}

HBF_CASE("select.same_order_100_runs",
         {.rules = {"HBF-SEL-4"}, .kills = {"host_rank_not_total", "host_rank_by_name"}, .limit_s = 60, .host_side = true}) {
    hostile::Scene scene;
    const fs::path cache = scene.folder("cache", 0700);
    setenv("XDG_CACHE_HOME", cache.c_str(), 1); // of this process alone: the user's own stays as it is
    Random random(context.seed());
    std::vector<Member> made(std::begin(members), std::end(members));
    std::vector<std::string> first;
    for (int run = 0; run < 100; ++run) {
        const fs::path folder = scene.top() / "plugins";
        if (run % 25 == 0) { // the files come to the disk in another order each time
            fs::remove_all(folder);
            scene.folder("plugins");
            for (size_t i = made.size(); i > 1; --i) std::swap(made[i - 1], made[random.below(i)]);
            for (const Member &one : made) scene.plugin(folder, one.name, "chameleon.so", one.extra);
        }
        const Selection selection = select({{folder}, {{"plugins.probe_timeout_s", "30"}}, run % 25 != 0});
        const auto order = order_of(selection);
        if (first.empty()) {
            first = order;
            for (size_t i = 0; i < std::size(due); ++i)
                context.check(selection.candidates[i].name == due[i] && selection.candidates[i].reason == Reason::selected,
                              "place {} belongs to {}, and {} is there ({})", i, due[i], selection.candidates[i].name,
                              to_string(selection.candidates[i].reason));
        }
        context.check(order == first, "run {} has another order than the first: {} instead of {}", run + 1,
                      fmt::join(order, ", "), fmt::join(first, ", "));
    }
}

} // namespace
} // namespace hbf::conformance
