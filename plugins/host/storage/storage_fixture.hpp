// SPDX-License-Identifier: Apache-2.0
// A tier in a directory of its own, in every way it can be open.
#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>

#include "fd.hpp"
#include "testing.hpp"

namespace hbf::host::testing {

struct Variant {
    bool uring, direct, nameless;
};

class StorageTest : public ::testing::TestWithParam<Variant> {
protected:
    std::unique_ptr<StorageTier> tier(uint64_t capacity = 64 << 20) {
        StorageOptions options;
        options.path = scratch_.path();
        options.capacity = capacity;
        options.uring = GetParam().uring;
        options.direct = GetParam().direct;
        StorageInternals internals;
        internals.nameless_files = GetParam().nameless;
        return open_storage(options, log_.log(), internals);
    }
    static hbf_tier_info describe(const StorageTier &tier) {
        hbf_tier_info info{};
        info.struct_size = sizeof info;
        tier.describe(info);
        return info;
    }

    // The file behind an unnamed region, from outside: as another program of this user could reach it.
    Fd steal(uint64_t size) const {
        for (const auto &entry : std::filesystem::directory_iterator("/proc/self/fd")) {
            std::error_code gone;
            const std::string target = std::filesystem::read_symlink(entry.path(), gone);
            struct stat info{};
            if (target.find(scratch_.path()) != 0 || ::stat(entry.path().c_str(), &info) != 0 || !S_ISREG(info.st_mode))
                continue;
            if (static_cast<uint64_t>(info.st_size) == size) return Fd(::open(entry.path().c_str(), O_RDWR | O_CLOEXEC));
        }
        return {};
    }

    ScratchDirectory scratch_;
    KeptLog log_;
};

inline auto storage_variants() {
    return ::testing::Values(Variant{true, true, true}, Variant{false, true, true}, Variant{true, false, true},
                             Variant{false, false, false});
}
inline std::string variant_name(const ::testing::TestParamInfo<Variant> &variant) {
    return std::string(variant.param.uring ? "uring" : "threads") + (variant.param.direct ? "Direct" : "Buffered") +
           (variant.param.nameless ? "" : "Temporary");
}

} // namespace hbf::host::testing
