// SPDX-License-Identifier: Apache-2.0
// The part of a probe that calls into a plugin's table: look for devices, then open each once, read its tiers, close it.
#pragma once

#include <functional>
#include <optional>

#include "core/loader/probe_record.hpp"
#include "hbf/abi/plugin.h"

namespace hbf::loader {

using SayStep = std::function<void(ProbeStep)>;

// What status and message of a failed probe mean. A message may begin with the reason's own word ("driver_stub: ...").
Refusal refusal_of_probe(hbf_status status, std::string_view message);

// Fills record.devices and their tiers; the refusal, if the plugin cannot serve.
std::optional<Refusal> probe_and_try(const hbf_plugin &plugin, const ProbeRequest &request, const SayStep &say,
                                     ProbeRecord &record);

} // namespace hbf::loader
