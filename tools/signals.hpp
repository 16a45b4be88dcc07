// SPDX-License-Identifier: Apache-2.0
// SIGINT, SIGTERM and SIGHUP ask for a clean stop: loops look at interrupted(), finish what they hold, report what they
// have, and exit with 128 + signal. A second signal ends the process at once.
#pragma once

namespace hbf::tools {

void catch_signals();                 // also ignores SIGPIPE: a closed pipe is a write error
int interrupted() noexcept;           // the signal, 0 if none came
int interrupted_exit_code() noexcept; // 128 + signal

} // namespace hbf::tools
