// SPDX-License-Identifier: Apache-2.0
// What loading the library does to a process that does nothing else: its static constructors, and its destructors at exit.
#include <fmt/format.h>
#include <sys/wait.h>

#include "conformance/runner/programs.hpp"
#include "core/common/child_process.hpp"
#include "tools/plugin/checks.hpp"

namespace hbf::tools::plugin {
namespace {

constexpr const char *check = "load.quiet";

// The rest of the line that begins with `word`, "" if there is none.
std::string line_of(const std::string &said, std::string_view word) {
    const size_t at = said.starts_with(word) ? 0 : said.find("\n" + std::string(word));
    if (at == std::string::npos) return "";
    const size_t from = said.find(word, at) + word.size();
    return said.substr(from, said.find('\n', from) - from);
}

bool run_to_end(ChildProcess &process, const std::function<bool()> &stop) {
    while (true) {
        if (stop && stop()) return process.stop(), false;
        std::vector<pollfd> fds;
        process.add_to(fds);
        const auto now = ChildProcess::Clock::now();
        poll(fds.data(), fds.size(), static_cast<int>(process.nap(now).count()));
        process.listen();
        if (process.ended(ChildProcess::Clock::now())) return true;
    }
}

// How it ended, where that was not as it should be.
std::string bad_end(const ChildProcess &process, std::chrono::milliseconds limit) {
    if (process.timed_out())
        return fmt::format("loading it did not end within {:.3g} s", std::chrono::duration<double>(limit).count());
    if (process.flooded()) return "it prints without end when it is loaded";
    if (!process.status()) return "how the process that loaded it ended is not known";
    if (WIFSIGNALED(*process.status()))
        return fmt::format("the process that loaded it ended by {}", signal_name(WTERMSIG(*process.status())));
    const bool told = process.answer().ends_with('\x04');
    if (!told) return fmt::format("it ended the process that loaded it, with status {}", WEXITSTATUS(*process.status()));
    return "";
}

} // namespace

bool check_load(const std::filesystem::path &library, std::chrono::milliseconds limit, const CheckOptions &options,
                Findings &out) {
    const auto program = conformance::case_program();
    if (!program) {
        out.cannot_tell(check, "HBF-LIFE-1", program.error(), "install the conformance suite");
        return true;
    }
    ChildSetup setup;
    setup.program = *program;
    setup.arguments = {"--load", library.string()};
    setup.time = limit;
    ChildProcess process;
    if (const auto started = process.start(setup); !started) {
        out.cannot_tell(check, "HBF-LIFE-1", started.error().message, "run this again");
        return true;
    }
    if (!run_to_end(process, options.stop)) {
        out.cannot_tell(check, "HBF-LIFE-1", "interrupted", "run this again");
        return false;
    }
    const std::string &said = process.answer();
    const std::string end = bad_end(process, limit);
    if (const std::string refused = line_of(said, "refused "); end.empty() && !refused.empty()) {
        out.fail(check, "HBF-LIFE-2", "the dynamic linker refuses it: " + refused,
                 "install what it needs; link drivers' libraries not at all, open them with dlopen");
        return false;
    }
    if (!end.empty()) {
        out.fail(check, "HBF-LIFE-1", end, "look at its static constructors: nothing may run before the host calls");
        return false;
    }
    bool quiet = true;
    const auto wrong = [&](const char *rule, const std::string &evidence, const char *remedy) {
        out.fail(check, rule, evidence, remedy);
        quiet = false;
    };
    if (const std::string change = line_of(said, "changed "); !change.empty())
        wrong("HBF-LIFE-1", "loading it changes the process: " + change,
              "do it in create, for the instance alone, or not at all");
    if (process.output_size() > 0)
        wrong("HBF-LIFE-9",
              fmt::format("it printed {} bytes when it was loaded: {}", process.output_size(), process.output()),
              "write to the host's log, from probe or create on");
    if (quiet) out.pass(check, "HBF-LIFE-1", "loaded and left at exit without a trace");
    return true;
}

} // namespace hbf::tools::plugin
