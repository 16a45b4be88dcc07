// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/context.hpp"

#include <fmt/format.h>

#include "hbf/sdk/failure.hpp"
#include "plugins/level_zero/errors.hpp"

namespace hbf::level_zero {

OwnedContext::OwnedContext(const Functions &functions, ze::Driver driver) : ze(functions) {
    const ze::ContextDesc desc;
    check(ze.zeContextCreate(driver, &desc, &handle), "zeContextCreate");
}

OwnedContext::~OwnedContext() {
    ze.zeContextDestroy(handle);
}

Context::Context(const Functions &functions, const Opened &opened)
    : ze(functions), driver(opened.driver), device(opened.device), facts(opened.facts), context(functions, opened.driver),
      shots(functions, context.handle, opened.device) {}

ze::List Context::make_list(uint32_t group, std::string_view what) const {
    ze::QueueDesc desc;
    desc.ordinal = group;
    ze::List list = nullptr;
    check(ze.zeCommandListCreateImmediate(context.handle, device, &desc, &list), what);
    return list;
}

// A command that the driver did not take, or none.
struct Refused {
    ze::Result code = ze::success;
    const char *call = "";
};

// Runs what `append` puts on a list of its own, and waits for it: ten seconds, and ten more for each GiB that it touches.
// From the first command to the end nothing here takes memory, for without any the commands would go on in what their
// caller then frees. `runs` is true afterwards where the device may do so yet.
template <class Append>
void Context::aside(uint32_t group, std::string_view what, uint64_t bytes, bool &runs, const Append &append) {
    struct Ended {
        const Functions &ze;
        ze::List list;
        const bool &runs; // still: then it stays for good
        ~Ended() {
            if (!runs) ze.zeCommandListDestroy(list);
        }
    };
    const auto expect = [&](ze::Result code, const char *call) {
        if (code != ze::success) check(code, fmt::format("{} {}", call, what));
    };
    Ended list{ze, make_list(group, fmt::format("zeCommandListCreateImmediate {}", what)), runs};
    ShotStore::Lent shot(shots);
    runs = true;
    const Refused refused = append(list.list);
    // Of what was refused the first commands run all the same.
    const ze::Result sealed = ze.zeCommandListAppendBarrier(list.list, shot.event(), 0, nullptr);
    ze::Result code = sealed == ze::success ? ze::not_ready : sealed;
    ze::Result state = sealed == ze::success ? ze::success : ze.zeDeviceGetStatus(device);
    const uint64_t seconds = 10 + 10 * (bytes >> 30);
    for (uint64_t slice = 0; code == ze::not_ready && state == ze::success && slice < 10 * seconds; ++slice) {
        code = ze.zeEventHostSynchronize(shot.event(), 100'000'000);
        if (code == ze::not_ready) state = ze.zeDeviceGetStatus(device);
    }
    if (code == ze::not_ready && state == ze::success) {
        shot.keep();
        sdk::fail(HBF_TIMEOUT, fmt::format("the device did not end its work {} within {} seconds", what, seconds));
    }
    runs = sealed != ze::success && state == ze::success; // nothing says when it ends
    expect(refused.code, refused.call);
    expect(sealed, "zeCommandListAppendBarrier");
    expect(state, "zeDeviceGetStatus");
    expect(code, "zeEventHostSynchronize");
}

void Context::try_out() {
    bool runs = false;
    aside(facts.compute_group, "at the opening of the device", 0, runs, [](ze::List) { return Refused(); });
}

void Context::zero(void *at, uint64_t size, bool &runs) {
    aside(facts.compute_group, "of a new region", size, runs, [&](ze::List list) {
        const uint64_t nothing = 0;
        return Refused{ze.zeCommandListAppendMemoryFill(list, at, &nothing, sizeof nothing, size, nullptr, 0, nullptr),
                       "zeCommandListAppendMemoryFill"};
    });
}

void Context::carry(uint32_t group, std::initializer_list<void *> places, uint64_t size, bool &runs) {
    aside(group, "of the trial of host memory", size, runs, [&](ze::List list) {
        const void *from = nullptr;
        Refused refused;
        for (void *const to : places) {
            if (from && refused.code == ze::success)
                refused = {ze.zeCommandListAppendMemoryCopy(list, to, from, size, nullptr, 0, nullptr),
                           "zeCommandListAppendMemoryCopy"};
            if (from && refused.code == ze::success)
                refused = {ze.zeCommandListAppendBarrier(list, nullptr, 0, nullptr), "zeCommandListAppendBarrier"};
            from = to;
        }
        return refused;
    });
}

} // namespace hbf::level_zero
