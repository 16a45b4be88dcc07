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

void give_back(const std::pair<uint64_t, Memory> &memory) {
    if (memory.second.registered)
        machine().memory().unregister_host(reinterpret_cast<void *>(memory.first));
    else
        machine().memory().free(memory.first);
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

void prepare_books() {
    std::lock_guard lock(books().mutex);
    books().streams.reserve(1024);
    books().events.reserve(16384);
}

void own_memory(Context &context, uint64_t address, bool registered) {
    const auto note = [&] {
        std::lock_guard lock(books().mutex);
        books().memory[address] = {&context, registered};
    };
    or_undo(note, [&] { give_back({address, {&context, registered}}); });
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

void own(Stream *stream) {
    const auto note = [&] {
        std::lock_guard lock(books().mutex);
        books().streams.push_back(stream);
    };
    or_undo(note, [&] { destroy(stream); });
}

void own(Event *event) {
    const auto note = [&] {
        std::lock_guard lock(books().mutex);
        books().events.push_back(event);
    };
    or_undo(note, [&] { destroy(event); });
}

void destroy(Stream *stream) {
    model::Stream *const of = stream->stream;
    if (!retire(stream)) return;
    forget(books().streams, stream);
    machine().destroy_stream(of);
}

void destroy(Event *event) {
    model::Event *const of = event->event;
    if (!retire(event)) return;
    forget(books().events, event);
    machine().destroy_event(of);
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
    for (const auto &one : memory) give_back(one);
}

CUresult done(Context &context, model::Outcome outcome) {
    if (outcome == model::Outcome::failed) context.device->break_with(outcome);
    return code(outcome);
}

} // namespace hbf::emulated::cuda
