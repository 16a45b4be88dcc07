// SPDX-License-Identifier: Apache-2.0
#include "conformance/sim/model/machine.hpp"

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>

#include <fmt/format.h>

#include "conformance/sim/model/parts.hpp"
#include "core/output/size.hpp"

namespace hbf::model {
namespace {

constexpr size_t kept_handles = 8; // of streams or events that are gone: few, or they are a leak to whoever counts

struct Process {
    std::unique_ptr<Machine> machine;
    std::string error;
};

Result<Profile> profile_of_environment() {
    const char *const name = std::getenv("HBF_EMULATE_PROFILE");
    if (!name || !*name)
        return fail(Code::unavailable,
                    "HBF_EMULATE_PROFILE is not set: give it the name or the path of a machine's profile");
    auto profile = load_profile(name);
    const char *const timing = std::getenv("HBF_EMULATE_TIMING");
    if (!profile || !timing || !*timing) return profile;
    const std::string_view word = timing;
    const auto known = timing_named(word);
    if (!known)
        return fail(Code::invalid, fmt::format("HBF_EMULATE_TIMING=\"{}\": must be none, links, free or virtual", word));
    profile->timing = *known;
    return profile;
}

Result<Machine::Settings> settings_of_environment() {
    Machine::Settings settings;
    if (const char *const text = std::getenv("HBF_EMULATE_FAULTS")) {
        auto faults = parse_faults(text);
        if (!faults) return fail(faults.error().code, "HBF_EMULATE_FAULTS: " + faults.error().message);
        settings.faults = std::move(*faults);
    }
    if (const char *const text = std::getenv("HBF_EMULATE_SEED"); text && *text) {
        const auto seed = parse_number(text);
        if (!seed) return fail(Code::invalid, fmt::format("HBF_EMULATE_SEED=\"{}\": must be a number", text));
        settings.seed = *seed;
    }
    return settings;
}

Process make_process() noexcept {
    Process process;
    try {
        auto profile = profile_of_environment();
        auto settings = settings_of_environment();
        if (!profile)
            process.error = profile.error().message;
        else if (!settings)
            process.error = settings.error().message;
        else
            process.machine = std::make_unique<Machine>(std::move(*profile), *settings);
    } catch (const std::exception &error) {
        process.error = error.what();
    }
    if (!process.error.empty()) std::fprintf(stderr, "hbf emulated machine: %s\n", process.error.c_str());
    return process;
}

// Never destroyed: threads of the machine, and of the program, may use it until the process is gone.
Process &process() noexcept {
    alignas(Process) static std::byte room[sizeof(Process)];
    static Process *const one = ::new (static_cast<void *>(room)) Process(make_process());
    return *one;
}

template <class Kept>
void keep(std::vector<std::unique_ptr<Kept>> &old, std::unique_ptr<Kept> gone) {
    if (old.size() >= kept_handles) old.erase(old.begin()); // one for one: what is kept does not come and go
    old.push_back(std::move(gone));
}

} // namespace

Machine *machine() noexcept {
    return process().machine.get();
}
const std::string &machine_error() noexcept {
    return process().error;
}

Machine::Machine(Profile profile, const Settings &settings) : parts_(std::make_unique<Parts>(std::move(profile), settings)) {
    const auto &devices = parts_->profile.devices;
    for (size_t i = 0; i < devices.size(); ++i)
        parts_->devices.push_back(std::make_unique<Device>(*this, static_cast<int>(i), devices[i]));
    parts_->memory = std::make_unique<Memory>(*this);
    parts_->engines = std::make_unique<Engines>(*this, device_count(), settings.seed);
}

Machine::~Machine() {
    parts_->engines.reset();
}

const Profile &Machine::profile() const noexcept {
    return parts_->profile;
}
Timing Machine::timing() const noexcept {
    return parts_->timing.load(std::memory_order_relaxed);
}
Faults &Machine::faults() noexcept {
    return parts_->faults;
}
Memory &Machine::memory() noexcept {
    return *parts_->memory;
}
int Machine::device_count() const noexcept {
    return static_cast<int>(parts_->devices.size());
}
Device &Machine::device(int index) noexcept {
    return *parts_->devices[static_cast<size_t>(index)];
}

std::vector<int> Machine::devices_of(std::string_view vendor) const {
    std::vector<int> found;
    for (const auto &device : parts_->devices)
        if (device->profile().vendor == vendor && !parts_->faults.on(Fault::no_device, device->index()))
            found.push_back(device->index());
    return found;
}

Stream *Machine::create_stream(int device, const StreamOptions &options) {
    if (this->device(device).lost()) return nullptr;
    auto lane = std::make_shared<Stream::Parts>(*this, device, options);
    auto stream = std::make_unique<Stream>(lane);
    Stream *const handle = stream.get();
    const std::lock_guard lock(parts_->mutex);
    const auto known = parts_->streams.emplace(handle, std::move(stream)).first;
    try {
        parts_->engines->add(std::move(lane));
    } catch (...) {
        parts_->streams.erase(known);
        throw;
    }
    return handle;
}

bool Machine::is_stream(const void *handle) const {
    const std::lock_guard lock(parts_->mutex);
    return parts_->streams.contains(handle);
}

void Machine::destroy_stream(Stream *stream) {
    const std::lock_guard lock(parts_->mutex);
    const auto found = parts_->streams.find(stream);
    if (found == parts_->streams.end()) return;
    parts_->engines->close(*stream->parts());
    keep(parts_->old_streams, std::move(found->second));
    parts_->streams.erase(found);
}

Event *Machine::create_event(EventKind kind, uint64_t flags) {
    auto event = std::make_unique<Event>(std::make_shared<Event::Parts>(*this, kind, flags));
    Event *const handle = event.get();
    const std::lock_guard lock(parts_->mutex);
    parts_->events.emplace(handle, std::move(event));
    return handle;
}

bool Machine::is_event(const void *handle) const {
    const std::lock_guard lock(parts_->mutex);
    return parts_->events.contains(handle);
}

void Machine::destroy_event(Event *event) {
    const std::lock_guard lock(parts_->mutex);
    const auto found = parts_->events.find(event);
    if (found == parts_->events.end()) return;
    keep(parts_->old_events, std::move(found->second));
    parts_->events.erase(found);
}

} // namespace hbf::model

// For measuring what lies above: between "none" and "free" while nothing is in flight, so that what a plugin tries at open
// is moved and what is measured is not. False: no machine, or none of the two.
extern "C" HBF_MODEL_API bool hbf_emulated_machine_timing(const char *name) {
    using hbf::model::Timing;
    hbf::model::Machine *const machine = hbf::model::machine();
    const auto timing = hbf::model::timing_named(name);
    if (!machine || (timing != Timing::none && timing != Timing::free)) return false;
    machine->parts().timing.store(*timing, std::memory_order_relaxed);
    return true;
}
