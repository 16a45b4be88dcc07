// SPDX-License-Identifier: Apache-2.0
// The controls of the migration shapes: a granule copied and moved by a CPU's own stores, without asking who uses it.
#pragma once

#include "conformance/suite/coherence/frames.hpp"

namespace hbf::conformance::coherence {

// One round each; counts into `out` how often a user of the granule saw what must not be.
void read_beside_raw_copy(Sightings &out);    // M3': versions copied into the frame that is being read
void add_beside_raw_move(Sightings &out);     // M2': moved while it is added to
void publish_beside_raw_move(Sightings &out); // M1': moved while it is written

// Rounds until the control was seen often enough.
Sightings until_seen(const Context &context, const char *name, void (*round)(Sightings &out));

} // namespace hbf::conformance::coherence
