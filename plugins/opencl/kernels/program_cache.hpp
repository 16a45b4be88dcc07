// SPDX-License-Identifier: Apache-2.0
// Built programs on disk, $XDG_CACHE_HOME/hbf/opencl (else ~/.cache/hbf/opencl): a file each, with a checksum. One that
// cannot be used is said in the log, and is a miss.
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "core/common/cache_folder.hpp"
#include "hbf/sdk/log.hpp"
#include "plugins/opencl/kernels/ability.hpp"

namespace hbf::opencl {

class ProgramCache {
public:
    explicit ProgramCache(const sdk::Log &log); // where there can be none, says so in the log and is off

    // All that a built program depends on. What a driver's name and versions do not tell, it refuses itself.
    static std::string key(const Ability &ability, std::string_view source, std::string_view options);

    // `what`: the kernel, for the log.
    std::optional<std::string> find(const std::string &key, std::string_view what) const;
    void store(const std::string &key, std::string_view binary, std::string_view what); // a failure costs only time

private:
    sdk::Log log_;
    CacheFolder folder_;
    std::atomic<bool> told_{false}; // that it cannot be written to
};

} // namespace hbf::opencl
