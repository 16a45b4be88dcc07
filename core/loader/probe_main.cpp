// SPDX-License-Identifier: Apache-2.0
// hbf-probe: looks at one plugin in a process of its own. Started by libhbf only: the request comes on stdin, steps and
// record go to descriptor 3, what the plugin prints goes where stdout and stderr lead. It is two processes: one that looks,
// and one above it that ends whatever a plugin started there, wherever that hides.
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/loader/bind.hpp"
#include "core/loader/probe_record.hpp"
#include "core/loader/trial.hpp"
#include "core/loader/warden.hpp"

// A crash is to end the process by its signal, so that the loader can name it, whatever this was built with.
extern "C" const char *__asan_default_options() {
    return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0:detect_leaks=0:allocator_may_"
           "return_null=1";
}
extern "C" const char *__tsan_default_options() {
    return "handle_segv=0:handle_sigbus=0:handle_sigill=0:handle_sigfpe=0:handle_abort=0";
}

namespace hbf::loader {
namespace {

constexpr int record_fd = 3;
constexpr size_t largest_request = 1024 * 1024;

bool write_all(std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = write(record_fd, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return false;
        text.remove_prefix(static_cast<size_t>(count));
    }
    return true;
}

void say(ProbeStep step) {
    write_all(fmt::format("step {}\n", to_string(step)));
}

std::string read_request() {
    std::string text;
    char block[4096];
    for (;;) {
        const ssize_t count = read(STDIN_FILENO, block, sizeof block);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0 || text.size() > largest_request) return text;
        text.append(block, static_cast<size_t>(count));
    }
}

// No core file, no life without whoever waits for this process, which may be killed at any time, and no descriptor for
// those that a plugin starts.
bool settle(pid_t parent, int at_its_end) {
    const rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    fcntl(record_fd, F_SETFD, FD_CLOEXEC);
    if (prctl(PR_SET_PDEATHSIG, at_its_end) != 0) return false;
    return getppid() == parent;
}

std::optional<Refusal> look(const ProbeRequest &request, ProbeRecord &record) {
    struct stat facts = {};
    if (stat(request.plugin_file.c_str(), &facts) != 0 || FileIdentity::of(facts) != request.identity) {
        return Refusal{Reason::probe_failed, "the file changed while it was examined; remedy: run this again"};
    }
    say(ProbeStep::load);
    void *const handle = dlopen(request.plugin_file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) return refusal_of_dlerror(dlerror());
    say(ProbeStep::query);
    const auto entry = entry_of(handle);
    if (!entry) return entry.error();
    const auto table = query_table(*entry, request.name);
    if (!table) return table.error();
    const hbf_plugin &plugin = **table;
    record.vendor = plugin.vendor;
    record.version = plugin.version;
    record.description = plugin.description;
    record.compiler = plugin.compiler;
    record.build_id = plugin.build_id;
    return probe_and_try(plugin, request, say, record);
}

int look_and_answer(const ProbeRequest &request) {
    ProbeRecord record;
    if (auto refusal = look(request, record)) {
        record.reason = refusal->reason;
        record.detail = refusal->detail;
    } else {
        record.reason = Reason::selected;
    }
    return write_all("record " + encode(record) + "\n") ? 0 : 4;
}

int run() {
    say(ProbeStep::start);
    const auto request = decode_request(read_request());
    if (!request) return 2;
    // The loader, or its end, asks for ours by SIGTERM: a plugin's helpers in other groups and sessions must go first.
    const Warden warden;
    if (!settle(static_cast<pid_t>(request->parent), SIGTERM)) return 3;
    return warden.run([&, above = getpid()] { return settle(above, SIGKILL) ? look_and_answer(*request) : 3; });
}

} // namespace
} // namespace hbf::loader

int main() {
    if (fcntl(hbf::loader::record_fd, F_GETFD) < 0) {
        const char usage[] = "hbf-probe is started by libhbf to look at one plugin; see hbf probe --help\n";
        return write(STDERR_FILENO, usage, sizeof usage - 1) < 0 ? 3 : 2;
    }
    // Not return: static destructors of a plugin or a driver are not what is asked about.
    _exit(hbf::loader::run());
}
