// SPDX-License-Identifier: Apache-2.0
#include "core/loader/cache.hpp"

#include <algorithm>
#include <utility>

#include "core/loader/sha256.hpp"

namespace hbf::loader {
namespace {

constexpr size_t largest_file = 4 * 1024 * 1024, most_files = 256;

std::string file_name(const std::string &key) {
    return sha256_hex(key) + ".json";
}

} // namespace

ProbeCache ProbeCache::open(std::vector<std::string> &notes) {
    ProbeCache cache;
    cache.folder_ = CacheFolder::open("probe", notes);
    return cache;
}

std::optional<ProbeRecord> ProbeCache::find(const std::string &key) const {
    const auto text = folder_.read(file_name(key), largest_file);
    if (!text) return std::nullopt;
    auto record = decode_cached(key, *text);
    return record && is_worth_keeping(*record) ? std::move(record) : std::nullopt;
}

void ProbeCache::store(const std::string &key, const ProbeRecord &record) const {
    if (!folder_ || !is_worth_keeping(record)) return;
    (void)folder_.write(file_name(key), encode_cached(key, record), most_files);
}

bool ProbeCache::is_worth_keeping(const ProbeRecord &record) {
    // A warning tells of something passing (a folder in use, a limit): to be looked at again.
    if (!record.notes.empty()) return false;
    const auto failed = [](const ProbedDevice &device) { return device.reason != Reason::selected; };
    if (std::any_of(record.devices.begin(), record.devices.end(), failed)) return false;
    return record.reason == Reason::selected || record.reason == Reason::no_device || record.reason == Reason::driver_absent;
}

} // namespace hbf::loader
