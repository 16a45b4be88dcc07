// SPDX-License-Identifier: Apache-2.0
#include "memory/page_kind.hpp"

#include <fmt/format.h>
#include <linux/mman.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hbf/sdk/failure.hpp"
#include "machine.hpp"

namespace hbf::host {
namespace {

constexpr const char *thp_enabled = "/sys/kernel/mm/transparent_hugepage/enabled";

PageKind pool_kind(hbf_pages asked, uint64_t page, int size_flag) {
    if (!read_number(fmt::format("/sys/kernel/mm/hugepages/hugepages-{}kB/nr_hugepages", page >> 10))) {
        sdk::fail(HBF_UNAVAILABLE, fmt::format("this kernel has no {} pages (no /sys/kernel/mm/hugepages/hugepages-{}kB)",
                                               name_of(asked), page >> 10));
    }
    return {asked, page, MAP_HUGETLB | size_flag, -1};
}

} // namespace

uint64_t base_page_size() noexcept {
    static const auto size = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    return size;
}

uint64_t transparent_page_size() noexcept {
    try {
        const auto enabled = read_line(thp_enabled);
        if (!enabled || enabled->find("[never]") != std::string::npos) return 0;
        return read_number("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size").value_or(0);
    } catch (...) {
        return 0;
    }
}

PageKind page_kind(hbf_pages asked, uint64_t size) {
    switch (asked) {
    case HBF_PAGES_DEFAULT: {
        constexpr uint64_t smallest_huge = uint64_t{2} << 20; // spares small regions the look at the kernel's settings
        const uint64_t huge = size < smallest_huge ? 0 : transparent_page_size();
        if (huge == 0 || size < huge) return {asked, base_page_size(), 0, -1};
        return {asked, huge, 0, MADV_HUGEPAGE};
    }
    case HBF_PAGES_4K:
        if (base_page_size() != 4096) {
            sdk::fail(HBF_UNAVAILABLE,
                      fmt::format("this kernel's smallest pages have {} bytes; ask for the default", base_page_size()));
        }
        return {asked, 4096, 0, MADV_NOHUGEPAGE};
    case HBF_PAGES_THP: {
        const uint64_t huge = transparent_page_size();
        if (huge == 0) {
            sdk::fail(HBF_UNAVAILABLE,
                      fmt::format("transparent huge pages are off; echo madvise > {} switches them on", thp_enabled));
        }
        return {asked, huge, 0, MADV_HUGEPAGE};
    }
    case HBF_PAGES_2M:
        return pool_kind(asked, uint64_t{2} << 20, MAP_HUGE_2MB);
    case HBF_PAGES_1G:
        return pool_kind(asked, uint64_t{1} << 30, MAP_HUGE_1GB);
    default:
        sdk::fail(HBF_INVALID, fmt::format("{} is no kind of pages", asked));
    }
}

const char *name_of(hbf_pages pages) noexcept {
    switch (pages) {
    case HBF_PAGES_DEFAULT:
        return "default";
    case HBF_PAGES_4K:
        return "4K";
    case HBF_PAGES_THP:
        return "THP";
    case HBF_PAGES_2M:
        return "2M";
    case HBF_PAGES_1G:
        return "1G";
    default:
        return "unknown";
    }
}

} // namespace hbf::host
