// SPDX-License-Identifier: Apache-2.0
// A cache folder for one run alone (XDG_CACHE_HOME), on the file system where the user's own lies. Plugins and libhbf keep
// storage, probe results and compiled kernels there: a test must neither find what is the user's nor leave anything in it,
// and a program that uses the same device meanwhile must not change what is found.
#pragma once

#include <filesystem>
#include <string>

namespace hbf::conformance {

class PrivateCache {
public:
    PrivateCache();  // also removes those whose process is gone
    ~PrivateCache(); // with all that is in it
    PrivateCache(const PrivateCache &) = delete;
    PrivateCache &operator=(const PrivateCache &) = delete;

    const std::filesystem::path &folder() const { return folder_; } // empty: none could be made
    std::string variable() const { return "XDG_CACHE_HOME=" + folder_.string(); }

private:
    std::filesystem::path folder_;
};

} // namespace hbf::conformance
