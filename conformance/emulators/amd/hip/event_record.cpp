// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <unordered_map>

#include "conformance/emulators/amd/hip/events.hpp"

namespace hbf::emulated::hip {
namespace {

// Beside a stream: where its events are recorded instead, and what stands for its last kernel.
struct Aside {
    model::Stream *stream = nullptr;
    model::Event *kernel = nullptr;
};
std::mutex mutex;
std::unordered_map<const model::Stream *, Aside> &asides() {
    static auto *const all = new std::unordered_map<const model::Stream *, Aside>;
    return *all;
}

bool misread(const model::Stream &stream) {
    return machine().faults().any() && machine().faults().on(model::Fault::hip_event_skips_copies, stream.device());
}

} // namespace

hipError_t record(model::Stream &stream, model::Event &event) {
    if (!misread(stream) || !machine().faults().fires(model::Fault::hip_event_skips_copies, stream.device()))
        return refusal(stream.record(event));
    const std::lock_guard lock(mutex);
    Aside &aside = asides()[&stream];
    if (!aside.stream) aside.stream = machine().create_stream(stream.device(), {.waits_for_default = false});
    if (!aside.stream) return hipErrorRuntimeOther;
    if (aside.kernel) (void)aside.stream->wait(*aside.kernel);
    return refusal(aside.stream->record(event));
}

void launched(model::Stream &stream) {
    if (!misread(stream)) return;
    const std::lock_guard lock(mutex);
    Aside &aside = asides()[&stream];
    if (!aside.kernel) aside.kernel = machine().create_event(model::EventKind::mark);
    (void)stream.record(*aside.kernel);
}

void forget(model::Stream &stream) {
    if (!misread(stream)) return;
    const std::lock_guard lock(mutex);
    const auto at = asides().find(&stream);
    if (at == asides().end()) return;
    if (at->second.stream) machine().destroy_stream(at->second.stream);
    if (at->second.kernel) machine().destroy_event(at->second.kernel);
    asides().erase(at);
}

} // namespace hbf::emulated::hip
