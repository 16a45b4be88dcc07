// SPDX-License-Identifier: Apache-2.0
// How an event is recorded. HIP: an event stands for everything ahead of it in its stream, whichever engine does it. The
// fault hip-event-skips-copies reads that otherwise: kernels alone count, for they run where the event does.
#pragma once

#include "conformance/emulators/amd/hip/streams.hpp"

namespace hbf::emulated::hip {

hipError_t record(model::Stream &stream, model::Event &event);
void launched(model::Stream &stream); // a kernel was put on it
void forget(model::Stream &stream);   // it is about to go

} // namespace hbf::emulated::hip
