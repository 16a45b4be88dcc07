// SPDX-License-Identifier: Apache-2.0
#include "plugins/amd/memory/verify.hpp"

#include <fmt/format.h>

#include "plugins/amd/errors.hpp"
#include "plugins/amd/library.hpp"

namespace hbf::amd {

Verified verify_class(const std::byte *at, uint64_t size, CoherenceClass wanted) {
    const Hip &hip = library().hip;
    if (!hip.MemRangeGetAttribute) return {Verified::Is::unknown, "the runtime has no hipMemRangeGetAttribute"};
    int mode = flag::mode_indeterminate;
    const Code code = taken(hip.MemRangeGetAttribute(&mode, sizeof mode, flag::range_coherency_mode, at, size));
    if (code != code::success) return {Verified::Is::unknown, "hipMemRangeGetAttribute gives " + error_text(code)};
    if (mode != flag::mode_fine && mode != flag::mode_coarse)
        return {Verified::Is::unknown, "hipMemRangeGetAttribute cannot tell"};
    // Uncached memory is fine-grained memory that is not cached: there is no third answer.
    const bool coarse = wanted == CoherenceClass::coarse;
    return {(mode == flag::mode_coarse) == coarse ? Verified::Is::as_asked : Verified::Is::otherwise,
            fmt::format("hipMemRangeGetAttribute says {}", mode == flag::mode_coarse ? "coarse" : "fine")};
}

} // namespace hbf::amd
