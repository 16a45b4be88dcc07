// SPDX-License-Identifier: Apache-2.0
// Processes that were started by a child of ours and outlived it.
#pragma once

#include <vector>

#include "core/common/child_process.hpp"

namespace hbf {

// From now on, what children leave behind becomes a child of this process (PR_SET_CHILD_SUBREAPER); ends with the object.
class AdoptOrphans {
public:
    AdoptOrphans();
    ~AdoptOrphans();
    AdoptOrphans(const AdoptOrphans &) = delete;
    AdoptOrphans &operator=(const AdoptOrphans &) = delete;

private:
    int before_ = 0;
};

// For a process that adopts and has no children of its own left: collects those that ended, gives the others a moment to end
// by themselves, then kills and names them, and whom they leave behind in turn.
std::vector<Orphan> end_orphans(std::chrono::milliseconds grace);

} // namespace hbf
