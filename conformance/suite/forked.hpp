// SPDX-License-Identifier: Apache-2.0
// Does something in a process of its own, so that a crash, a hang, an exit or a change of the process is an answer and ends
// nothing else. A fork, not a new program: the child has the plugin loaded, and whatever instances live are dead to it.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace hbf::conformance {

struct Forked {
    bool timed_out = false; // killed by us
    int signal = 0;         // that ended it
    int code = 0;           // it exited with, 0 if a signal ended it
    double seconds = 0;     // from start to end
    std::string said;       // what the body returned; "" if it never came so far
    bool returned = false;  // the body came to its end
    std::string printed;    // to stdout and stderr, bounded

    bool well() const { return !timed_out && signal == 0 && code == 0 && returned; }
    // "" if it came to its end and said nothing; else what it said, or how it ended.
    std::string trouble() const;
    std::string ending() const; // "ended by SIGSEGV", "exited with status 3", "did not end within 10 s"
};

enum class Ending { at_once, through_exit }; // _exit, or exit with its destructors

// Runs `body` in a child. The reason of a Verdict that it throws, or of another exception, becomes `said`, with `returned`
// true. To be called while the case has no other thread.
Forked run_forked(const std::function<std::string()> &body, double limit_s, Ending ending = Ending::at_once);

// The same for a program: argv[0] is its path. What it writes to descriptor 3 is `said`, and an end_mark after it
// `returned`.
inline constexpr char end_mark = '\x04';
Forked run_program(const std::vector<std::string> &argv, double limit_s);

} // namespace hbf::conformance
