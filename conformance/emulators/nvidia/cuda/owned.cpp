// SPDX-License-Identifier: Apache-2.0
#include "conformance/emulators/nvidia/cuda/owned.hpp"

#include <algorithm>
#include <map>

#include "conformance/emulators/nvidia/cuda/codes.hpp"
#include "conformance/emulators/nvidia/cuda/runtime.hpp"

namespace hbf::emulated::cuda {
namespace {

struct Memory {
    Context *context;
    bool registered;
};
struct Books {
    std::mutex mutex;
    std::map<uint64_t, Memory> memory; // by where it begins
    std::vector<Stream *> streams;
    std::vector<Event *> events;
};
Books &books() {
    static auto &books = *new Books; // calls may come after exit() began
    return books;
}

template <class T>
std::vector<T *> taken(std::vector<T *> &from, const Context &context) {
    std::vector<T *> of_it;
    std::copy_if(from.begin(), from.end(), std::back_inserter(of_it),
                 [&](const T *one) { return one->context == &context; });
    std::erase_if(from, [&](const T *one) { return one->context == &context; });
    return of_it;
}

template <class T>
void forget(std::vector<T *> &from, T *one) {
    std::lock_guard lock(books().mutex);
    std::erase(from, one);
}

} // namespace

void own_memory(Context &context, uint64_t address, bool registered) {
    std::lock_guard lock(books().mutex);
    books().memory[address] = {&context, registered};
}

void disown_memory(uint64_t address) {
    std::lock_guard lock(books().mutex);
    books().memory.erase(address);
}

Context *owner_of_memory(uint64_t address) {
    std::lock_guard lock(books().mutex);
    const auto at = books().memory.find(address);
    return at == books().memory.end() ? nullptr : at->second.context;
}

void own(Context &, Stream *stream) {
    std::lock_guard lock(books().mutex);
    books().streams.push_back(stream);
}

void own(Context &, Event *event) {
    std::lock_guard lock(books().mutex);
    books().events.push_back(event);
}

void destroy(Stream *stream) {
    if (!stream->end()) return;
    forget(books().streams, stream);
    machine().destroy_stream(stream->stream);
}

void destroy(Event *event) {
    if (!event->end()) return;
    forget(books().events, event);
    machine().destroy_event(event->event);
}

void release_all_of(Context &context) {
    context.device->synchronize();
    std::vector<Stream *> streams;
    std::vector<Event *> events;
    std::map<uint64_t, Memory> memory;
    {
        std::lock_guard lock(books().mutex);
        streams = taken(books().streams, context);
        events = taken(books().events, context);
        std::erase_if(books().memory,
                      [&](const auto &one) { return one.second.context == &context && memory.insert(one).second; });
    }
    for (Stream *const stream : streams) destroy(stream);
    for (Event *const event : events) destroy(event);
    for (const auto &[address, of] : memory) {
        if (of.registered)
            machine().memory().unregister_host(reinterpret_cast<void *>(address));
        else
            machine().memory().free(address);
    }
}

CUresult done(Context &context, model::Outcome outcome) {
    if (outcome == model::Outcome::failed) context.device->break_with(outcome);
    return code(outcome);
}

} // namespace hbf::emulated::cuda
