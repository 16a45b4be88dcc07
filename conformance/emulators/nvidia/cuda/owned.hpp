// SPDX-License-Identifier: Apache-2.0
// What a context's end takes with it: its memory, streams and events (reference, cuCtxDestroy: "all resources ... created in
// the context"). And how work of its device ended.
#pragma once

#include "conformance/emulators/nvidia/cuda/objects.hpp"

namespace hbf::emulated::cuda {

void prepare_books(); // room for what most programs own
// Where there is no memory to note it in, it is given back or destroyed: throws std::bad_alloc.
void own_memory(Context &context, uint64_t address, bool registered = false);
void disown_memory(uint64_t address);
Context *owner_of_memory(uint64_t address); // by where it begins; nullptr: none
void own(Stream *stream);
void own(Event *event);
void destroy(Stream *stream); // returns at once
void destroy(Event *event);
void release_all_of(Context &context);

// The code of work that ended so. Reference, for each of the codes that say it: "this leaves the process in an inconsistent
// state and any further CUDA work will return the same error" - contained errors, too, which the model lets pass.
CUresult done(Context &context, model::Outcome outcome);

} // namespace hbf::emulated::cuda
