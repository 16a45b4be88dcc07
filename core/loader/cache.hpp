// SPDX-License-Identifier: Apache-2.0
// Answers of earlier probes, each in a file named after the SHA-256 of its key. A file is there in full or not at all; one
// that is broken, or not this user's alone, is a miss.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/common/cache_folder.hpp"
#include "core/loader/probe_record.hpp"

namespace hbf::loader {

class ProbeCache {
public:
    // Below XDG_CACHE_HOME or ~/.cache; made if it is not there (0700). Switched off, with the reason in `notes`, where the
    // folder cannot be had or is not safe, and always in a privileged process.
    static ProbeCache open(std::vector<std::string> &notes);
    static ProbeCache off() { return {}; }

    std::optional<ProbeRecord> find(const std::string &key) const;
    void store(const std::string &key, const ProbeRecord &record) const; // best effort: a full disk costs only time

    static bool is_worth_keeping(const ProbeRecord &record); // it can serve, or there is no device; no warnings

private:
    CacheFolder folder_;
};

} // namespace hbf::loader
