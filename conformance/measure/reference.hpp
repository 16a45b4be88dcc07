// SPDX-License-Identifier: Apache-2.0
// Reference copies: what plain code does with the same bytes in the same run. libc's memcpy and a streaming (non-temporal)
// copy, on one thread or on a team of pinned ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace hbf::measure {

enum class ReferenceCopy { libc_memcpy, streaming };
std::string to_string(ReferenceCopy kind);

void plain_copy(ReferenceCopy kind, std::byte *dst, const std::byte *src, uint64_t size) noexcept; // in the calling thread

class ReferenceTeam {
public:
    explicit ReferenceTeam(const std::vector<int> &cpus); // one thread a CPU, pinned to it
    ~ReferenceTeam();
    ReferenceTeam(const ReferenceTeam &) = delete;
    ReferenceTeam &operator=(const ReferenceTeam &) = delete;

    size_t size() const;

    // Copies `size` bytes in pieces of `piece`, each thread a contiguous part, `passes` times; seconds from release to the
    // last one's end. A release costs as much as a small copy: many passes are one run.
    double run(ReferenceCopy kind, size_t threads, std::byte *dst, const std::byte *src, uint64_t size, uint64_t piece,
               uint32_t passes = 1);

private:
    struct State;
    std::unique_ptr<State> state_;
};

} // namespace hbf::measure
