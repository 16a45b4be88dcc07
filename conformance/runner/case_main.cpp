// SPDX-License-Identifier: Apache-2.0
// hbf-case: one case of the suite on one plugin, in a process of its own. Started by hbf conformance, which gives it a
// descriptor for its record; without one it tells people on stdout.
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "conformance/runner/case_arguments.hpp"
#include "conformance/runner/case_list.hpp"
#include "conformance/runner/case_run.hpp"
#include "conformance/runner/case_text.hpp"
#include "conformance/runner/describe.hpp"
#include "conformance/runner/record_channel.hpp"
#include "conformance/runner/record_json.hpp"
#include "conformance/suite/lifecycle/load_and_tell.hpp"
#include "core/common/suggest.hpp"

// A crash is to end the process by its signal, so that the runner can name it, whatever this was built with.
extern "C" const char *__asan_default_options() {
    return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0:detect_leaks=0:abort_on_error=1:"
           "allocator_may_return_null=1";
}
extern "C" const char *__tsan_default_options() {
    return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0:abort_on_error=1";
}
extern "C" const char *__ubsan_default_options() {
    return "print_stacktrace=1:halt_on_error=1:abort_on_error=1";
}

namespace hbf::conformance {
namespace {

constexpr int wrong_usage = 2, no_record = 4; // no_record: it could not be written, and the runner learns it this way

void print(std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
}

int refuse(const std::string &why) {
    std::fputs(fmt::format("hbf-case: {}\nhbf-case: see 'hbf-case --help'\n", why).c_str(), stderr);
    return wrong_usage;
}

// No core file, and no life without the runner: it may be killed while this runs.
bool settle(int64_t parent) {
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    if (parent == 0) return true;
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent;
}

// A case's own child that comes back here instead of ending must not speak for its parent.
class OnlyThisProcess {
public:
    void check() const {
        if (getpid() != process_) _exit(no_record);
    }

private:
    pid_t process_ = getpid();
};

int send(const RecordWriter &channel, const Json &json, int status) {
    if (channel.write(json.line())) return status;
    // Still on stderr, if that is left; the log of the case then says it.
    const std::string why = fmt::format("hbf-case: the record cannot be written: {}\n", std::strerror(errno));
    if (write(STDERR_FILENO, why.data(), why.size()) < 0) return no_record;
    return no_record;
}

int tell_people(const std::string &text, int status) {
    print(text);
    return std::fflush(stdout) == 0 ? status : 3;
}

int run(const CaseArguments &arguments, const RecordWriter *channel) {
    const Case *entry = find_case(arguments.name);
    if (!entry) {
        std::vector<std::string> names;
        for (const Case *one : all_cases()) names.emplace_back(one->name);
        return refuse(fmt::format("no case is called '{}'{}", arguments.name, did_you_mean(arguments.name, names)));
    }
    const OnlyThisProcess only;
    const CaseRecord record = run_case(*entry, arguments.subject, arguments.seed, arguments.profile);
    only.check();
    const int status = case_exit_status(record.status);
    return channel ? send(*channel, to_json(record), status) : tell_people(text_of(record), status);
}

int describe_subject(const CaseArguments &arguments, const RecordWriter *channel) {
    const RunRecord record = describe(arguments.subject);
    return channel ? send(*channel, to_json(record), exit_code(record))
                   : tell_people(to_json(record).dump(), exit_code(record));
}

int with_subject(const CaseArguments &arguments) {
    std::optional<RecordWriter> channel;
    if (arguments.record_fd >= 0) {
        channel.emplace(arguments.record_fd);
        if (!channel->usable()) return refuse(fmt::format("--record-fd {}: {}", arguments.record_fd, std::strerror(errno)));
    }
    if (!settle(arguments.parent)) return no_record;
    const RecordWriter *out = channel ? &*channel : nullptr;
    return arguments.mode == CaseArguments::describe ? describe_subject(arguments, out) : run(arguments, out);
}

int start(int argc, char **argv) {
    // Of the suite's own: before anything else, for the process is looked at.
    if (argc == 3 && std::strcmp(argv[1], "--load") == 0) return load_and_tell(argv[2]);
    const auto arguments = parse_case_arguments({argv + 1, argv + argc});
    if (!arguments) return refuse(arguments.error());
    switch (arguments->mode) {
    case CaseArguments::help:
        print(case_usage);
        return 0;
    case CaseArguments::list:
        print(to_json(linked_cases()).dump());
        return 0;
    case CaseArguments::names:
        for (const Case *one : all_cases())
            if (!one->info.hidden) print(fmt::format("{}\n", one->name));
        return 0;
    default:
        return with_subject(*arguments);
    }
}

} // namespace
} // namespace hbf::conformance

int main(int argc, char **argv) {
    return hbf::conformance::start(argc, argv);
}
