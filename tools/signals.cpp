// SPDX-License-Identifier: Apache-2.0
#include "tools/signals.hpp"

#include <csignal>
#include <initializer_list>

namespace hbf::tools {
namespace {

volatile std::sig_atomic_t received = 0;

void on_signal(int signal) {
    received = signal;
}

} // namespace

void catch_signals() {
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND); // the second one kills
    sigemptyset(&action.sa_mask);
    for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction old = {};
        // A parent that ignores the signal (nohup, a background job of sh) means it.
        if (sigaction(signal, nullptr, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
    }
    std::signal(SIGPIPE, SIG_IGN);
}

int interrupted() noexcept {
    return received;
}

int interrupted_exit_code() noexcept {
    return 128 + received;
}

} // namespace hbf::tools
