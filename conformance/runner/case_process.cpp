// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/case_process.hpp"

#include <cmath>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/common/environment.hpp"
#include "core/common/orphans.hpp"

namespace hbf::conformance {
namespace {

CaseEnd wait_for_end(ChildProcess &process, const CaseProcess &how) {
    for (;;) {
        if (const int signal = how.interrupted ? how.interrupted() : 0) {
            process.stop();
            CaseEnd end = end_of(process);
            end.interrupted = signal;
            return end;
        }
        std::vector<pollfd> fds;
        process.add_to(fds);
        const auto nap = process.nap(ChildProcess::Clock::now());
        poll(fds.data(), fds.size(), static_cast<int>(nap.count()));
        process.listen();
        if (process.ended(ChildProcess::Clock::now())) return end_of(process);
    }
}

} // namespace

double sanitizer_slows() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return 10;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    return 10;
#endif
#endif
    return 1;
}

tl::expected<CaseEnd, std::string> run_to_end(const CaseProcess &how, const CaseArguments &arguments, double limit_s) {
    const AdoptOrphans adopt;
    ChildSetup setup;
    setup.program = how.program;
    setup.arguments = words_of(arguments);
    if (!how.environment.empty()) setup.environment = environment_changed(how.environment);
    setup.time = std::chrono::milliseconds(std::llround(limit_s * 1000));
    setup.output_limit = how.output_limit;
    setup.output_kept = how.output_kept;
    setup.answer_limit = 256u << 20;
    setup.find_orphans = true;
    ChildProcess process;
    if (const auto started = process.start(setup); !started) return tl::unexpected(started.error().message);
    CaseEnd end = wait_for_end(process, how);
    end.limit_s = limit_s;
    end.output_limit = how.output_limit;
    return end;
}

double limit_of(const CaseEntry &entry, Profile profile) {
    const double longer = profile == Profile::quick ? 1 : profile == Profile::full ? 10 : 100;
    return longer * (entry.limit_s + entry.budget_s);
}

tl::expected<CaseRecord, std::string> run_case_process(const CaseProcess &how, const CaseEntry &entry,
                                                       const CaseArguments &arguments, const std::string &replay) {
    CaseRecord expected;
    expected.name = entry.name;
    expected.rules = entry.rules;
    expected.seed = arguments.seed;
    expected.mask = need_names(arguments.subject.mask);
    expected.replay = replay;
    CaseArguments full = arguments;
    full.name = entry.name;
    full.record_fd = ChildProcess::answer_fd;
    full.parent = getpid();
    const auto end = run_to_end(how, full, how.slower * limit_of(entry, arguments.profile));
    if (!end) return tl::unexpected(end.error());
    return judge_end(expected, *end);
}

tl::expected<std::vector<CaseEntry>, std::string> list_cases(const CaseProcess &how) {
    CaseArguments arguments;
    arguments.mode = CaseArguments::list;
    CaseProcess whole = how;
    whole.output_kept = whole.output_limit = 16u << 20;
    const auto end = run_to_end(whole, arguments, 60 * how.slower);
    if (!end) return tl::unexpected(end.error());
    if (!end->status || !WIFEXITED(*end->status) || WEXITSTATUS(*end->status) != 0)
        return tl::unexpected(
            fmt::format("{} --list did not end as it should; remedy: install hbf again", how.program.string()));
    auto cases = case_list_from(end->output);
    if (!cases) return tl::unexpected(fmt::format("{} --list: {}", how.program.string(), cases.error()));
    return cases;
}

} // namespace hbf::conformance
