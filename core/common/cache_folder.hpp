// SPDX-License-Identifier: Apache-2.0
// A folder of small files below the user's cache folder, for what can be had again at the cost of time. A file is there in
// full or not at all, with mode 0600; one that others could have written is never read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/common/fd.hpp"
#include "hbf/status.hpp"

namespace hbf {

class CacheFolder {
public:
    // NAME below "hbf" in XDG_CACHE_HOME or ~/.cache; made if it is not there (0700). Switched off, with the reason in
    // `notes` ("no NAME cache: ..."), where the folder cannot be had or is not safe, and always in a privileged process.
    static CacheFolder open(const std::string &name, std::vector<std::string> &notes);
    CacheFolder() = default; // switched off

    explicit operator bool() const { return static_cast<bool>(folder_); }

    // UNAVAILABLE: there is none (or the cache is off). INVALID: why what is there cannot be used.
    Result<std::string> read(const std::string &file, size_t largest) const;
    // Replaces what has this name; safe against others doing the same. Then removes the oldest files while there are more
    // than `most_files`: old keys never come back (a new boot, a new driver).
    Result<> write(const std::string &file, std::string_view bytes, size_t most_files) const;

private:
    Fd folder_;
};

} // namespace hbf
