// SPDX-License-Identifier: Apache-2.0
// Asks a driver something in a forked process, so that a library that crashes, hangs, prints, or leaves threads and files
// behind does so there (rule HBF-LIFE-5).
#pragma once

#include <chrono>
#include <functional>
#include <string>

namespace hbf::stream {

struct ChildAnswer {
    bool whole = false; // `told` is all that ask() returned
    std::string told;
    bool late = false;
    std::string end; // where it is not whole, how the process ended: "ended by SIGSEGV", "did not answer in time"
};

// Runs `ask` in a child that has nothing of the terminal and dies with its parent. Throws sdk::Failure (EXHAUSTED) where no
// process can be had. What `ask` throws is sdk::Failure and arrives as one: it is thrown here.
ChildAnswer ask_in_child(const std::function<std::string()> &ask, std::chrono::milliseconds limit);

} // namespace hbf::stream
