// SPDX-License-Identifier: Apache-2.0
// What sysfs has of a machine's PCI devices.
#pragma once

#include <cstddef>
#include <vector>

#include "conformance/sim/model/faults.hpp"
#include "conformance/sim/model/profile.hpp"
#include "tools/emulate/root_writer.hpp"

namespace hbf::tools::emulate {

// `closed`: its nodes may not be opened (but by root, whom nothing stops).
void write_device(const RootWriter &out, const model::Profile &profile, size_t index, bool closed);

// A bridge whose Access Control Services send requests between devices upstream: extended capability 0x000d, control bit 2.
void write_redirecting_bridge(const RootWriter &out);

// Does to the profile what these faults do to a machine's own files, as the model has them while a process runs
// (conformance/sim/model/links.cpp): a narrow slot, a redirecting bridge.
void spoil(model::Profile &profile, const std::vector<model::FaultSetting> &faults);

} // namespace hbf::tools::emulate
