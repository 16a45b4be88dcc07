// SPDX-License-Identifier: Apache-2.0
// Under `hbf emulate` nothing that is printed about the machine is of hardware, and each line of it says so.
#pragma once

#include <string>

namespace hbf::tools {

// The name of the emulated machine that this process runs on; "": this is a machine.
std::string emulated_machine();

// For people: on an emulated machine every line with a word ends in [emulated], unless it says so itself; else as it is.
std::string said_emulated(std::string text);

} // namespace hbf::tools
