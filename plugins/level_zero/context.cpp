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

// Runs what `append` puts on a list of its own, and waits for it: ten seconds, and ten more for each GiB that it touches.
template <class Append>
void Context::aside(uint32_t group, std::string_view what, uint64_t bytes, const Append &append) {
    struct Ended {
        const Functions &ze;
        ze::List list;
        bool runs = false; // still: then it stays for good
        ~Ended() {
            if (!runs) ze.zeCommandListDestroy(list);
        }
    };
    Ended list{ze, make_list(group, fmt::format("zeCommandListCreateImmediate {}", what))};
    ShotStore::Lent shot(shots);
    list.runs = true;
    append(list.list);
    check(ze.zeCommandListAppendBarrier(list.list, shot.event(), 0, nullptr),
          fmt::format("zeCommandListAppendBarrier {}", what));
    ze::Result code = ze::not_ready, state = ze::success;
    const uint64_t seconds = 10 + 10 * (bytes >> 30);
    for (uint64_t slice = 0; code == ze::not_ready && state == ze::success && slice < 10 * seconds; ++slice) {
        code = ze.zeEventHostSynchronize(shot.event(), 100'000'000);
        if (code == ze::not_ready) state = ze.zeDeviceGetStatus(device);
    }
    if (code == ze::not_ready && state == ze::success) {
        shot.keep();
        sdk::fail(HBF_TIMEOUT, fmt::format("the device did not end its work {} within {} seconds", what, seconds));
    }
    list.runs = false;
    check(state, fmt::format("zeDeviceGetStatus {}", what));
    check(code, fmt::format("zeEventHostSynchronize {}", what));
}

void Context::try_out() {
    aside(facts.compute_group, "at the opening of the device", 0, [](ze::List) {});
}

void Context::zero(void *at, uint64_t size) {
    aside(facts.compute_group, "of a new region", size, [&](ze::List list) {
        const uint64_t nothing = 0;
        check(ze.zeCommandListAppendMemoryFill(list, at, &nothing, sizeof nothing, size, nullptr, 0, nullptr),
              "zeCommandListAppendMemoryFill of a new region");
    });
}

void Context::carry(uint32_t group, std::initializer_list<void *> places, uint64_t size) {
    constexpr std::string_view what = "of the trial of host memory";
    aside(group, what, size, [&](ze::List list) {
        const void *from = nullptr;
        for (void *const to : places) {
            if (from) {
                check(ze.zeCommandListAppendMemoryCopy(list, to, from, size, nullptr, 0, nullptr),
                      fmt::format("zeCommandListAppendMemoryCopy {}", what));
                check(ze.zeCommandListAppendBarrier(list, nullptr, 0, nullptr),
                      fmt::format("zeCommandListAppendBarrier {}", what));
            }
            from = to;
        }
    });
}

} // namespace hbf::level_zero
