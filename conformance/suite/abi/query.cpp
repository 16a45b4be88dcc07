// SPDX-License-Identifier: Apache-2.0
// The entry point: pure, and answers inside the host's range of versions only.
#include <cstring>
#include <vector>

#include "conformance/suite/context.hpp"
#include "conformance/suite/guarded.hpp"
#include "conformance/suite/threads.hpp"
#include "conformance/suite/visible.hpp"

namespace hbf::conformance {
namespace {

constexpr uint32_t now = HBF_ABI_VERSION;

const hbf_plugin *ask(Subject &subject, uint32_t least, uint32_t most) {
    hbf_host_info host = subject.host_info();
    host.abi_min = least;
    return subject.query()(most, &host);
}

HBF_CASE("abi.query.pure_and_repeatable",
         {.rules = {"HBF-ABI-2", "HBF-LIFE-9"},
          .kills = {"m43_changes_environment", "query_alternates", "query_counts", "query_by_thread"}}) {
    Subject &subject = context.subject();
    const hbf_plugin *const first = ask(subject, now, now);
    const hbf_plugin copy = *first;
    const Visible before = look();
    for (int i = 0; i < 1000; ++i) {
        const hbf_plugin *const again = ask(subject, now, now);
        context.check(again == first, "call {} of hbf_plugin_query returned another table than the first", i + 2);
    }
    const std::string change = first_change(before, look());
    context.check(change.empty(), "a thousand queries changed the process: {}", change);
    context.check(std::memcmp(&copy, first, sizeof copy) == 0, "the base table changed between queries");
    std::vector<const hbf_plugin *> answers(4);
    run_threads(4, [&](unsigned i) {
        for (int n = 0; n < 100; ++n) answers[i] = ask(subject, now, now);
    });
    for (const hbf_plugin *answer : answers)
        context.check(answer == first, "hbf_plugin_query called from another thread returned another table");
}

HBF_CASE("abi.query.rejects_unknown_major",
         {.rules = {"HBF-ABI-3"},
          .kills = {"m40_wrong_abi", "query_smaller_ok", "query_null_host_ok", "query_ignores_min"}}) {
    Subject &subject = context.subject();
    const uint32_t theirs = subject.plugin().abi_version;
    const struct {
        uint32_t least, most;
        const char *who;
    } hosts[] = {
        {theirs + 1, HBF_ABI_MAKE(HBF_ABI_MAJOR_OF(theirs) + 1, 0), "a host that no longer serves this version"},
        {HBF_ABI_MAKE(HBF_ABI_MAJOR_OF(theirs) + 1, 0), HBF_ABI_MAKE(HBF_ABI_MAJOR_OF(theirs) + 1, 9),
         "a host of the next major version"},
        {UINT32_MAX, UINT32_MAX, "a host of the last version of all"},
        {0, theirs - 1, "a host that is too old"},
        {0, 0, "a host of version 0.0"},
        {theirs + 1, theirs - 1, "a host whose range is empty"},
    };
    for (const auto &host : hosts) {
        // A plugin may serve older versions too: what it gives has to lie in the host's range, whatever that is.
        const hbf_plugin *const answer = ask(subject, host.least, host.most);
        const uint32_t version = answer ? answer->abi_version : 0;
        context.check(!answer || (version >= host.least && version <= host.most),
                      "{} ([{:#x}, {:#x}]) gets a table of version {:#x}, where NULL is due", host.who, host.least,
                      host.most, version);
    }
    context.check(!subject.query()(theirs, nullptr), "a query without host info gets a table, where NULL is due");
    for (const uint32_t size : {HBF_HOST_INFO_MIN_SIZE - 8u, 8u}) {
        const Shortened<hbf_host_info> small(subject.host_info(), size);
        context.check(
            !subject.query()(theirs, small.get()) && !small.touched(),
            "host info of {} bytes, less than the frozen minimum of {}, gets a table, where NULL is due, or is read "
            "past its end",
            size, HBF_HOST_INFO_MIN_SIZE);
    }
}

HBF_CASE("abi.query.older_host_minor_accepted",
         {.rules = {"HBF-ABI-3", "HBF-ABI-4"},
          .kills = {"query_own_version_only", "query_own_size_only", "query_reads_on"}}) {
    Subject &subject = context.subject();
    const uint32_t theirs = subject.plugin().abi_version;
    const Shortened<hbf_host_info> oldest(subject.host_info(), HBF_HOST_INFO_MIN_SIZE);
    const hbf_plugin *const table = subject.query()(theirs, oldest.get());
    context.check(table && !oldest.touched(),
                  "host info of its frozen minimum of {} bytes is refused, or is read past its end", HBF_HOST_INFO_MIN_SIZE);
    const struct {
        uint32_t least, most;
        const char *who;
    } hosts[] = {
        {theirs, theirs, "a host of exactly this version"},
        {0, theirs, "a host that serves everything up to this version"},
        {theirs, theirs + 1, "a host one minor version ahead"},
        {0, HBF_ABI_MAKE(HBF_ABI_MAJOR_OF(theirs) + 1, 3), "a later host that still serves this version"},
        {0, UINT32_MAX, "a host that serves everything"},
    };
    for (const auto &host : hosts) {
        const hbf_plugin *const answer = ask(subject, host.least, host.most);
        const uint32_t version = answer ? answer->abi_version : 0;
        context.check(answer && version >= host.least && version <= host.most,
                      "{} ([{:#x}, {:#x}]) gets {} from a plugin of version {:#x}", host.who, host.least, host.most,
                      answer ? "a table of another version" : "NULL", theirs);
    }
    Extended<hbf_host_info> later;
    later.known = subject.host_info();
    later.known.struct_size = sizeof later;
    context.check(subject.query()(theirs, &later.known), "a later host's longer host info is refused");
}

} // namespace
} // namespace hbf::conformance
