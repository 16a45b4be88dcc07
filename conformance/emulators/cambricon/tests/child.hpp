// SPDX-License-Identifier: Apache-2.0
// A machine, and what CNDrv makes of a process, is made once in a process: each test has one of its own.
#pragma once

#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace hbf::emulated {

// Runs it in a child, on an MLU370 with these faults: 0 if nothing in it failed, else the signal or exit code.
template <class Work>
int in_child(const std::string &faults, const Work &work) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(60);
        setenv("HBF_EMULATE_PROFILE", "mlu370", 1);
        setenv("HBF_EMULATE_FAULTS", faults.c_str(), 1);
        unsetenv("MLU_VISIBLE_DEVICES");
        try {
            work();
        } catch (...) {
            ADD_FAILURE() << "it threw";
        }
        _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

template <class Work>
void passes_in_child(const std::string &faults, const Work &work) {
    const int end = in_child(faults, work);
    EXPECT_EQ(end, 0) << "under \"" << faults << '"';
}

} // namespace hbf::emulated
