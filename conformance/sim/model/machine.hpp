// SPDX-License-Identifier: Apache-2.0
// The emulated machine of this process: one, shared by all emulated libraries that are loaded (libcuda and libnvidia-ml
// speak of the same devices). It is made at first use from the environment, and never destroyed:
//
//   HBF_EMULATE_PROFILE   path or name of a profile (profile.hpp); without it there is no machine
//   HBF_EMULATE_FAULTS    what is wrong with it (faults.hpp)
//   HBF_EMULATE_SEED      of every choice: order between streams, where faults act; a number, else 1
//   HBF_EMULATE_TIMING    "none", "links", "free" or "virtual": instead of the profile's
//
// How an emulated runtime uses it:
//
//   model::Machine *m = model::machine();          // nullptr: say "no device"; machine_error() was printed
//   for (int d : m->devices_of("nvidia")) m->device(d).set_contract(contract);
//   model::Stream *s = m->create_stream(d, {});    // this is the vendor's handle; m->is_stream(s) checks one
//   auto a = m->memory().allocate_device(d, size);
//   s->copy(a.address, host, size); s->record(*event); event->query();
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "conformance/sim/model/device.hpp"
#include "conformance/sim/model/event.hpp"
#include "conformance/sim/model/faults.hpp"
#include "conformance/sim/model/link.hpp"
#include "conformance/sim/model/memory.hpp"
#include "conformance/sim/model/profile.hpp"

namespace hbf::model {

class HBF_MODEL_API Machine {
public:
    struct Settings {
        std::vector<FaultSetting> faults;
        uint64_t seed = 1;
    };
    // For tests. Emulators take machine().
    Machine(Profile profile, const Settings &settings);
    ~Machine(); // streams and events that are left are destroyed; work that has not begun is not done
    Machine(const Machine &) = delete;
    Machine &operator=(const Machine &) = delete;

    const Profile &profile() const noexcept;
    Timing timing() const noexcept;
    Faults &faults() noexcept;
    Memory &memory() noexcept;

    int device_count() const noexcept;
    Device &device(int index) noexcept;
    std::vector<int> devices_of(std::string_view vendor) const; // none under the fault no-device

    std::vector<LinkState> links() const;  // as they are now
    LinkState host_link(int device) const; // its own to the host; .profile nullptr: the profile says nothing
    LinkState peer_link(int a, int b) const;

    // What `from` is said to be able to do with memory of `to`, and what it can.
    bool peer_advertised(int from, int to) const;
    PeerAccess peer_access(int from, int to) const;
    // Until `from` enables it, its kernels may not touch memory of `to`, and copies go through the host, which always works.
    // unsupported: not advertised. busy: it is already. invalid (disable): it is not.
    Outcome enable_peer(int from, int to);
    Outcome disable_peer(int from, int to);
    bool peer_enabled(int from, int to) const;

    Stream *create_stream(int device, const StreamOptions &options); // nullptr: the device is lost
    bool is_stream(const void *handle) const;
    // Returns at once: what was submitted is done first, then it goes.
    void destroy_stream(Stream *stream);
    Event *create_event(EventKind kind, uint64_t flags = 0);
    bool is_event(const void *handle) const;
    void destroy_event(Event *event); // may still be waited for by what was submitted

    struct Parts; // the engines' side: parts.hpp
    Parts &parts() noexcept { return *parts_; }

private:
    std::unique_ptr<Parts> parts_;
};

// The machine of this process, made at first use; nullptr if there is none, or what the environment says is wrong: then the
// reason was printed to stderr, once.
HBF_MODEL_API Machine *machine() noexcept;
HBF_MODEL_API const std::string &machine_error() noexcept; // "" if there is a machine

// Whether this thread runs a host function or an `ended`: where a vendor forbids its calls.
HBF_MODEL_API bool in_host_function() noexcept;

} // namespace hbf::model
