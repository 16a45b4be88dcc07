// SPDX-License-Identifier: Apache-2.0
#include "core/engine/blocks/cold_logs.hpp"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>
#include <sys/random.h>

#include "core/common/list_folder.hpp"
#include "core/engine/identity/fields.hpp"

namespace hbf::kv {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t number_bits = 37; // a block's place has room for one bit more

uint64_t bytes_below(const fs::path &folder) {
    uint64_t bytes = 0;
    for (const std::string &name : list_folder(folder, 4 * cold::most_segments).value_or(std::vector<std::string>{})) {
        std::error_code failed;
        const uintmax_t size = fs::file_size(folder / name, failed);
        if (!failed) bytes += size;
    }
    return bytes;
}

} // namespace

uint64_t ColdLog::find(const Identity &block, uint32_t parts) const {
    uint64_t number = 0;
    for (uint32_t part = 0; part < parts; ++part) {
        const auto found = log->find({block, part});
        if (!found || found->length != granule_size || (part > 0 && found->generation != number)) return 0;
        number = found->generation;
    }
    return number >> number_bits == 0 ? number : 0;
}

uint64_t ColdLog::find_same(const Identity &block, uint32_t parts, const uint32_t *crc) const {
    const uint64_t number = find(block, parts);
    for (uint32_t part = 0; number != 0 && part < parts; ++part) {
        const auto found = log->find({block, part});
        if (!found || found->generation != number || found->crc != crc[part]) return 0;
    }
    return number;
}

Result<> ColdLog::append(const Identity &block, uint64_t number, uint32_t parts, const std::byte *bytes,
                         const uint32_t *crc) {
    for (uint32_t part = 0; part < parts; ++part) {
        auto done = log->append({block, part}, number, {bytes + part * granule_size, granule_size}, crc[part]);
        if (!done) return tl::unexpected(std::move(done.error()));
    }
    return {};
}

Result<> ColdLog::commit() {
    auto done = log->commit();
    used = log->stats().used_bytes;
    return done;
}

Result<> ColdLog::remove(const Identity &block, uint32_t parts) {
    for (uint32_t part = 0; part < parts; ++part)
        if (auto done = log->remove({block, part}); !done) return tl::unexpected(std::move(done.error()));
    return {};
}

Result<std::unique_ptr<ColdLogs>> ColdLogs::open(const Options &options) {
    const std::string where = fmt::format("cold_storage.path {}", options.root.string());
    if (options.tenants == 0 || options.tenants > most_tenants)
        return fail(Code::invalid,
                    fmt::format("{}: logs for {} tenants; 1 to {} are possible", where, options.tenants, most_tenants));
    const auto names = list_folder(options.root, 1 << 16);
    if (!names) {
        Error error = names.error();
        error.message = fmt::format("{}: {}; remedy: make the folder", where, error.message);
        return tl::unexpected(std::move(error));
    }
    auto logs = std::make_unique<ColdLogs>(options);
    const std::string mine = cold::folder_of(options.root, options.owner).filename().string();
    uint64_t strangers = 0, kept = 0;
    for (const std::string &name : *names) {
        if (name.starts_with(mine))
            kept += bytes_below(options.root / name);
        else
            strangers += name.starts_with("model-") ? 1 : 0;
    }
    if (strangers > 0)
        logs->notes_.push_back(fmt::format("{}: {} logs of other models or layouts are there; nothing is taken from them",
                                           options.root.string(), strangers));
    if (options.bytes == 0) {
        std::error_code failed;
        const auto space = fs::space(options.root, failed);
        if (failed)
            return fail(Code::unavailable, fmt::format("{}: how much is free cannot be told: {}", where, failed.message()));
        logs->options_.bytes = (space.available + kept) / 2;
    }
    uint64_t begin = 0;
    if (getrandom(&begin, sizeof begin, 0) != static_cast<ssize_t>(sizeof begin))
        return fail(Code::internal, where + ": no random number to be had");
    logs->number_ = begin;
    if (auto opened = logs->open_tenant(0, ""); !opened) return tl::unexpected(std::move(opened.error()));
    return logs;
}

uint64_t ColdLogs::next_number() {
    constexpr uint64_t mask = (uint64_t{1} << number_bits) - 1;
    for (;;)
        if (const uint64_t number = ++number_ & mask; number != 0) return number;
}

Result<> ColdLogs::open_tenant(uint16_t number, std::string_view tenant) {
    if (of(number) != nullptr) return {};
    const std::lock_guard lock(mutex_);
    if (of(number) != nullptr || (number < tried_.size() && tried_[number])) return {};
    if (number >= most_tenants) {
        if (notes_.empty() || !notes_.back().starts_with("more than"))
            notes_.push_back(fmt::format("more than {} tenants: what the others leave is not kept", most_tenants));
        return {};
    }
    cold::LogOptions options;
    options.owner = options_.owner;
    if (!tenant.empty()) options.owner.tenant = Fields("cold tenant").add(Field::tenant, tenant).digest();
    auto folder = place_for(options.owner);
    if (!folder) return tl::unexpected(std::move(folder.error()));
    if (folder->empty()) {
        tried_.resize(std::max<size_t>(tried_.size(), number + 1), false);
        tried_[number] = true;
        return {};
    }
    auto mine = std::make_unique<ColdLog>();
    options.folder = *folder;
    options.capacity = options_.bytes / options_.tenants;
    options.segment_bytes = 0;
    options.calls = options_.calls;
    options.uring = options_.calls == nullptr; // which goes past them
    options.pinned = [this](const cold::Key &key) { return options_.pinned(key.block); };
    auto log = cold::Log::open(options);
    if (!log) return tl::unexpected(std::move(log.error()));
    mine->log = std::move(*log);
    const auto stats = mine->log->stats();
    mine->used = stats.used_bytes;
    // So that there is always something that can go, and what goes is not all moved first.
    const uint64_t reserve = std::min(options.capacity, 2 * mine->log->segment_bytes());
    mine->most_held = (options.capacity - reserve) / 4 * 3;
    if (stats.granules > 0) had_blocks_ = true;
    logs_[number].store(mine.get(), std::memory_order_release);
    owned_.push_back(std::move(mine));
    return {};
}

// The folder of the owner's log, "": there is none left.
Result<fs::path> ColdLogs::place_for(const cold::Owner &owner) {
    const fs::path mine = cold::folder_of(options_.root, owner);
    cold::Owner nobody = owner;
    nobody.tenant = {};
    const std::string prefix = cold::folder_of(options_.root, nobody).filename().string();
    const auto names = list_folder(options_.root, 1 << 16);
    if (!names) return tl::unexpected(names.error());
    std::vector<fs::path> others;
    for (const std::string &name : *names) {
        if (name == mine.filename().string()) return mine;
        if (name.starts_with(prefix)) others.push_back(options_.root / name);
    }
    if (!owner.tenant || others.size() < options_.tenants) return mine;
    if (options_.wipe) {
        std::sort(others.begin(), others.end(), [](const fs::path &a, const fs::path &b) {
            std::error_code ignored;
            return fs::last_write_time(a, ignored) < fs::last_write_time(b, ignored);
        });
        auto wiped = wipe_one(others, mine, owner);
        if (wiped) return mine;
        if (wiped.error().code != Code::busy) return tl::unexpected(std::move(wiped.error()));
    }
    notes_.push_back(fmt::format("{}: {} tenants have a log, which is all that there may be: what another one leaves is not "
                                 "kept; remedy: logs for more tenants, or have the oldest wiped",
                                 options_.root.string(), others.size()));
    return fs::path();
}

// Overwrites the first of them that nobody uses, and gives it the owner's name. BUSY: all are in use.
Result<> ColdLogs::wipe_one(const std::vector<fs::path> &others, const fs::path &to, const cold::Owner &owner) {
    for (const fs::path &from : others) {
        if (from == cold::folder_of(options_.root, options_.owner)) continue;
        cold::LogOptions options;
        options.folder = from;
        options.owner = owner;
        options.capacity = options_.bytes / options_.tenants;
        options.segment_bytes = 0;
        options.wipe_other_tenant = true;
        options.calls = options_.calls;
        auto log = cold::Log::open(options);
        if (!log && log.error().code == Code::busy) continue;
        if (!log) return tl::unexpected(std::move(log.error()));
        if (auto closed = (*log)->close(); !closed) return closed;
        std::error_code failed;
        fs::rename(from, to, failed);
        if (failed) return fail(Code::unavailable, fmt::format("{}: {}", from.string(), failed.message()));
        notes_.push_back(from.string() + ": what a tenant left there was wiped for another one");
        return {};
    }
    return fail(Code::busy, "every log is in use");
}

uint64_t ColdLogs::used() const {
    uint64_t used = 0;
    for (uint16_t number = 0; number < most_tenants; ++number)
        if (const ColdLog *const log = of(number)) used += log->used;
    return used;
}

uint64_t ColdLogs::held() const {
    uint64_t held = 0;
    for (uint16_t number = 0; number < most_tenants; ++number)
        if (const ColdLog *const log = of(number)) held += log->held;
    return held;
}

cold::LogStats ColdLogs::stats(uint32_t &logs) const {
    cold::LogStats all;
    logs = 0;
    for (uint16_t number = 0; number < most_tenants; ++number) {
        const ColdLog *const log = of(number);
        if (log == nullptr) continue;
        const auto one = log->log->stats();
        ++logs;
        all.granules += one.granules;
        all.used_bytes += one.used_bytes;
        all.appended_bytes += one.appended_bytes;
        all.commits += one.commits;
        all.evicted += one.evicted;
        all.moved += one.moved;
        all.read_bytes += one.read_bytes;
        all.lost += one.lost;
        all.refused_growths += one.refused_growths;
    }
    return all;
}

std::vector<std::string> ColdLogs::notes() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::string> all = notes_;
    for (const auto &log : owned_)
        for (std::string &note : log->log->notes()) all.push_back(std::move(note));
    return all;
}

} // namespace hbf::kv
