// SPDX-License-Identifier: Apache-2.0
// A round in a process of its own: what a faulty plugin does to its process is seen too, and the next round begins anew.
#include <algorithm>
#include <cstring>
#include <system_error>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/engine/campaign.hpp"

namespace hbf::campaign {
namespace {

// What is told through a pipe, in one piece.
struct Wire {
    uint64_t answers, errors, damaged;
    bool emulated;
    char wrong[1000], no_cache[1000];
};
static_assert(sizeof(Wire) <= 4096, "more than a pipe takes at once");

template <size_t N>
void put(char (&to)[N], const std::string &text) {
    const size_t length = std::min(text.size(), N - 1);
    std::memcpy(to, text.data(), length);
    to[length] = 0;
}

} // namespace

void run_apart(const Files &files, unsigned steps, unsigned seconds, Round &round) {
    int ends[2];
    if (::pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    const pid_t child = ::fork();
    if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
    if (child == 0) {
        ::close(ends[0]);
        ::alarm(seconds);
        run_round(files, steps, round);
        Wire wire{round.answers, round.errors, round.damaged, round.emulated, {}, {}};
        put(wire.wrong, round.wrong);
        put(wire.no_cache, round.no_cache);
        ::_exit(::write(ends[1], &wire, sizeof wire) == sizeof wire ? 0 : 3);
    }
    ::close(ends[1]);
    Wire wire{};
    const bool told = ::read(ends[0], &wire, sizeof wire) == sizeof wire;
    ::close(ends[0]);
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (told) {
        round.answers = wire.answers;
        round.errors = wire.errors;
        round.damaged = wire.damaged;
        round.emulated = wire.emulated;
        round.wrong = wire.wrong;
        round.no_cache = wire.no_cache;
    }
    if (WIFSIGNALED(status))
        round.ended = WTERMSIG(status) == SIGALRM
                          ? fmt::format("it did not end within {} s", seconds)
                          : fmt::format("signal {} ({})", WTERMSIG(status), ::sigabbrev_np(WTERMSIG(status)));
    else if (WEXITSTATUS(status) != 0 || !told)
        round.ended = fmt::format("exit code {}", WEXITSTATUS(status));
}

} // namespace hbf::campaign
