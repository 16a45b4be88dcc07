// SPDX-License-Identifier: Apache-2.0
// The plugin's device over the emulated driver, opened in the test's process.
#pragma once

#include <memory>

#include "conformance/emulators/nvidia/tests/machine.hpp"
#include "plugins/nvidia/discovery.hpp"
#include "plugins/nvidia/errors.hpp"
#include "plugins/nvidia/instance.hpp"
#include "plugins/stream/tests/on_instance.hpp"

namespace hbf::nvidia {

using stream::mebibyte;
using stream::refusal;

inline Options alone() {
    Options options;
    options.peers = Choice::off;
    return options;
}

struct Opened : stream::OnInstance<NvidiaInstance> {
    explicit Opened(const Options &options = alone()) {
        const Survey all = survey("");
        const Driver &cuda = driver();
        check(cuda, cuda.Init(0), "cuInit");
        instance = std::make_unique<NvidiaInstance>(cuda, read_facts(cuda, all.devices.at(0).ordinal), options, -1,
                                                    uint64_t{1} << 30, log.log());
    }
};

} // namespace hbf::nvidia
