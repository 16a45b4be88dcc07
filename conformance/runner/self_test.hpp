// SPDX-License-Identifier: Apache-2.0
// About a second before every run: the device under test behind the wrapper plugin, with one fault of data at a time. A
// suite that does not see these here and now has nothing to say about the device.
#pragma once

#include <string>
#include <vector>

#include "conformance/runner/case_process.hpp"

namespace hbf::conformance {

// Faults that any device shows, as the wrapper spells them: "flip,after=3".
const std::vector<std::string> &self_test_faults();

struct SelfTest {
    std::string line; // "self-test: 12/12 injected faults found", and which were not
    bool passed = false;
};

// `declared`: need:: bits of the device; a fault that a device without them cannot show is left out.
// Runs the hidden case selftest.transfer without a fault, which must pass, then once with each, which must fail.
// `wrapper`: hbf_plugin_inject.so; `arguments`: the device under test.
SelfTest run_self_test(const CaseProcess &how, const CaseEntry &entry, const std::string &wrapper,
                       const CaseArguments &arguments, uint32_t declared = ~0u);

// `arguments` for the same device behind the wrapper, with faults.
CaseArguments behind_wrapper(CaseArguments arguments, const std::string &wrapper, const std::string &faults);

} // namespace hbf::conformance
