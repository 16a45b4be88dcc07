// SPDX-License-Identifier: Apache-2.0
#include "tools/bandwidth/workbench.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/output/size.hpp"

namespace hbf::tools::bandwidth {
namespace {

constexpr uint64_t granule = 64 << 10;
constexpr uint64_t staging_bytes = 8 << 20;
constexpr uint64_t storage_bytes = 64 << 20; // nothing of it stays in a cache: O_DIRECT, and it is said if not

Pages pages_of(const std::string &name) {
    const std::pair<const char *, Pages> known[] = {
        {"4k", Pages::p4k}, {"thp", Pages::thp}, {"2m", Pages::p2m}, {"1g", Pages::p1g}};
    for (auto [text, pages] : known) {
        if (name == text) return pages;
    }
    return Pages::best;
}

} // namespace

Workbench::Workbench(Machine &machine, const std::vector<RowSpec> &rows, const Options &options)
    : machine_(machine), options_(options), pages_(pages_of(options.pages)) {
    std::set<std::pair<size_t, Role>> needed;
    for (const auto &row : rows) {
        needed.insert({row.src, Role::source});
        needed.insert({row.dst, Role::destination});
        largest_op_ = std::max(largest_op_, row.op_size);
    }
    for (const auto &[place, role] : needed) ++roles_[place];
}

Workbench::~Workbench() {
    for (const auto &[key, buffer] : held_) machine_.free(buffer);
}

// Tiers of memory may share the machine's memory without saying so: half of the smallest figure, over all of them.
uint64_t Workbench::plan(size_t place, uint64_t &wanted) {
    const auto &places = machine_.places();
    const bool storage = is_storage(places[place].tier);
    uint64_t buffers = 0, available = machine_.available(place);
    for (const auto &[other, count] : roles_) {
        if (is_storage(places[other].tier) == storage && places[other].device == places[place].device) buffers += count;
    }
    auto plan = [&](uint64_t asked) {
        return measure::plan_arena(machine_.inventory().last_level_cache_bytes, asked, available, buffers,
                                   options_.size != 0 && options_.size < granule ? 4 : granule);
    };
    auto arena = plan(options_.size != 0 ? options_.size : (storage ? storage_bytes : 0));
    // Larger for a larger copy, if there is room; on storage no copy of a sweep is worth more space.
    if (options_.size == 0 && !storage && largest_op_ > arena.bytes) {
        if (const auto larger = plan(largest_op_); larger.bytes >= largest_op_) arena = larger;
    }
    wanted = storage ? 0 : arena.wanted;
    auto [known, added] = planned_.try_emplace(place, arena.bytes);
    return known->second;
}

Result<measure::Buffer> Workbench::get(size_t place, Role role, uint64_t bytes) {
    if (auto held = held_.find({place, role}); held != held_.end()) return held->second;
    // Storage has no pages, and what the CPU looks through is not under test.
    const bool tested = !is_storage(machine_.places()[place].tier) && (role == Role::source || role == Role::destination);
    auto buffer = machine_.allocate(place, bytes, tested ? pages_ : Pages::best);
    if (buffer) held_[{place, role}] = *buffer;
    return buffer;
}

Result<Workbench::Pair> Workbench::buffers(const RowSpec &row) {
    Pair out;
    uint64_t src_wanted = 0, dst_wanted = 0;
    auto src_bytes = plan(row.src, src_wanted), dst_bytes = plan(row.dst, dst_wanted);
    // A row of memory and storage is as large as storage's part, so that its pass stays short.
    for (auto [bytes, place] : {std::pair{src_bytes, row.src}, std::pair{dst_bytes, row.dst}}) {
        if (bytes == 0) {
            return fail(Code::exhausted,
                        fmt::format("tier {} has no room for a test buffer: {} available",
                                    machine_.places()[place].tier.name, format_size(machine_.available(place))));
        }
    }
    auto src = get(row.src, Role::source, src_bytes);
    if (!src) return tl::unexpected(src.error());
    auto dst = get(row.dst, Role::destination, dst_bytes);
    if (!dst) return tl::unexpected(dst.error());
    out.src = *src;
    out.dst = *dst;
    out.bytes = std::min(src->size, dst->size);
    out.wanted = std::max(src_wanted, dst_wanted);
    if (src->address != nullptr && dst->address != nullptr) return out;
    // The CPU reaches such memory through a tier it can touch, any of the same device.
    const auto &places = machine_.places();
    for (size_t i = 0; i < places.size(); ++i) {
        if (places[i].device != places[row.src].device || !places[i].tier.cpu_access) continue;
        auto staging =
            get(i, row.direction == RowSpec::Direction::backward ? Role::staging_back : Role::staging, staging_bytes);
        if (!staging) return tl::unexpected(staging.error());
        out.staging = *staging;
        return out;
    }
    return fail(Code::unsupported, "no tier of this device can be touched by the CPU: its data cannot be verified");
}

} // namespace hbf::tools::bandwidth
