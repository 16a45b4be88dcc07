// SPDX-License-Identifier: Apache-2.0
// A trace of requests over prefix blocks, whatever file it came from.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/engine/placement/policy.hpp"

namespace hbf::replay {

using kv::BlockId;
using kv::no_block;
using kv::placement::Path;
using kv::placement::PathBlock;

struct Trace {
    std::string name;                // the file's
    std::string format;              // "csv", "mooncake", "bailian"
    std::vector<PathBlock> accesses; // ids dense from 0, in the order in which they first come
    std::vector<size_t> starts;      // of each request in `accesses`; one more at the end
    size_t blocks = 0;               // different ones
    double seconds = 0;              // from the first request to the last
    std::vector<std::string> notes;

    size_t requests() const { return starts.empty() ? 0 : starts.size() - 1; }
    Path path(size_t request) const {
        return std::span(accesses).subspan(starts[request], starts[request + 1] - starts[request]);
    }
    uint64_t tokens() const;
};

// "auto" goes by what is in the file. A file whose name or content says zstd is unpacked. Every error names file and line.
tl::expected<Trace, std::string> read_trace(const std::filesystem::path &path, const std::string &format);

} // namespace hbf::replay
