// SPDX-License-Identifier: Apache-2.0
#include "plugins/level_zero/context.hpp"

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

void Context::zero(void *at, uint64_t size) {
    struct Ended {
        const Functions &ze;
        ze::List list;
        ~Ended() { ze.zeCommandListDestroy(list); }
    };
    const Ended list{ze, make_list(facts.compute_group, "zeCommandListCreateImmediate of a new region")};
    ShotStore::Lent shot(shots);
    const uint64_t nothing = 0;
    const uint64_t whole = size / sizeof nothing * sizeof nothing;
    check(ze.zeCommandListAppendMemoryFill(list.list, at, &nothing, sizeof nothing, whole, nullptr, 0, nullptr),
          "zeCommandListAppendMemoryFill of a new region");
    check(ze.zeCommandListAppendBarrier(list.list, shot.event(), 0, nullptr), "zeCommandListAppendBarrier of a new region");
    ze::Result code = ze::not_ready;
    while ((code = ze.zeEventHostSynchronize(shot.event(), 100'000'000)) == ze::not_ready)
        check(ze.zeDeviceGetStatus(device), "zeDeviceGetStatus while a new region is filled");
    check(code, "zeEventHostSynchronize of a new region");
}

} // namespace hbf::level_zero
