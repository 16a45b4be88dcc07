// SPDX-License-Identifier: Apache-2.0
// Names become file names: what could lead out of the folder, or hide in it, is refused; opening never creates.
#include "conformance/suite/tier/named.hpp"

namespace hbf::conformance {
namespace {

constexpr uint64_t size = 4096;

HBF_CASE("tier.name.plain_only", {.rules = {"HBF-TIER-7", "HBF-SEC-4"},
                                  .kills = {"any_name_ok", "longest_name_refused", "unnamed_open_ok"},
                                  .needs = need::persistent}) {
    Instance &device = context.device();
    const uint32_t tier = device.persistent_tier();
    using std::string_literals::operator""s;
    const std::string names[] = {"."s,
                                 ".."s,
                                 ".hidden"s,
                                 "../up"s,
                                 "a/b"s,
                                 "/absolute"s,
                                 "a b"s,
                                 "a\0b"s,
                                 "tab\t"s,
                                 "line\n"s,
                                 "a:b"s,
                                 "star*"s,
                                 "~"s,
                                 "\xc3\xbc"s,
                                 "a\\b"s,
                                 "percent%20"s,
                                 "a;b"s,
                                 "$HOME"s,
                                 std::string(65, 'n'),
                                 std::string(300, 'n')};
    for (const std::string &name : names) {
        for (const uint32_t flags : {0u, HBF_ALLOC_OPEN_EXISTING}) {
            hbf_region_info region{};
            const Call call = device.alloc(tier, size, region, 0, name, flags);
            if (call.ok()) static_cast<void>(device.free(region.region));
            context.check_status(
                call, HBF_INVALID,
                fmt::format("a region named \"{}\" ({} bytes){}", name.c_str(), name.size(), flags ? ", to be opened" : ""));
        }
    }
    hbf_region_info region{};
    const std::string longest = fresh_name("longest"), full = longest + std::string(64 - longest.size(), 'Z');
    for (const std::string &name : {full, "0-_.A"s + longest.substr(longest.size() - 16)})
        context.check_status(device.alloc(tier, size, region, 0, name, HBF_ALLOC_OPEN_EXISTING), HBF_UNAVAILABLE,
                             fmt::format("opening a region of the good name {} that nobody made", name));
    context.check_status(device.alloc(tier, size, region, 0, "", HBF_ALLOC_OPEN_EXISTING), HBF_INVALID,
                         "opening an existing region without a name");
}

HBF_CASE("tier.name.open_existing_never_creates",
         {.rules = {"HBF-TIER-7"},
          .kills = {"open_existing_creates", "absent_region_has_handle", "absent_region_as_full"},
          .needs = need::persistent}) {
    Instance &device = context.device();
    const uint32_t tier = device.persistent_tier();
    const std::string name = fresh_name("absent");
    for (const char *when : {"a first time", "a second time"}) {
        hbf_region_info region{};
        const Call call = device.alloc(tier, size, region, 0, name, HBF_ALLOC_OPEN_EXISTING);
        context.check_status(call, HBF_UNAVAILABLE, fmt::format("opening {}, which nobody made, {}", name, when));
        context.check(region.region == 0, "opening {}, which nobody made, left the handle {:#x}", name, region.region);
    }
}

} // namespace
} // namespace hbf::conformance
