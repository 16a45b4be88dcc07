// SPDX-License-Identifier: Apache-2.0
// A plugin that works, and does one hostile deed when an instance is created. It passes everything on to the plugin named by
// HBF_HOSTILE_REAL; the deed is HBF_HOSTILE_DEED.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include "hbf/abi.h"

namespace {

const hbf_plugin *real = nullptr;

[[noreturn]] void linger() {
    for (;;) pause();
}

// How often instances were created, over all processes of a run: HBF_HOSTILE_COUNT is a file.
long creations() {
    const char *path = std::getenv("HBF_HOSTILE_COUNT");
    if (!path) return 0;
    long count = 0;
    std::ifstream(path) >> count;
    std::ofstream(path) << count + 1;
    return count;
}

hbf_status do_deed(const hbf_create_in *in) {
    const char *deed = std::getenv("HBF_HOSTILE_DEED");
    const std::string what = deed ? deed : "";
    if (what == "kills_its_process") kill(getpid(), SIGKILL);
    if (what == "exits_0") std::exit(0);
    if (what == "leaves_a_child" && fork() == 0) linger();
    if (what == "leaves_a_daemon" && fork() == 0) {
        setsid();
        linger();
    }
    if (what == "closes_all_files")
        for (int fd = 3; fd < 1 << 20; ++fd) close(fd);
    if (what == "closes_the_standard_streams")
        for (int fd = 0; fd < 3; ++fd) close(fd);
    if (what == "floods_stdout")
        for (;;) std::puts("all is well, all is well, all is well, all is well");
    if (what == "floods_the_log" && in->services && in->services->log)
        for (int i = 0; i < 200000; ++i) in->services->log(in->services->context, HBF_LOG_INFO, {"all is well", 11});
    if (what == "fails_the_third_time" && creations() >= 2) return HBF_INTERNAL;
    if (what == "moves_away" && chdir("/") != 0) return HBF_INTERNAL;
    if (what == "ignores_all_signals")
        for (int signal = 1; signal < 32; ++signal) std::signal(signal, SIG_IGN);
    return HBF_OK;
}

hbf_status create(const hbf_create_in *in, hbf_instance **out, hbf_error *error) noexcept {
    if (const hbf_status status = do_deed(in); status != HBF_OK) {
        *out = nullptr;
        if (error && error->message && error->capacity) std::snprintf(error->message, error->capacity, "not this time");
        return status;
    }
    return real->create(in, out, error);
}

} // namespace

extern "C" __attribute__((visibility("default"))) const hbf_plugin *hbf_plugin_query(uint32_t host_abi_max,
                                                                                     const hbf_host_info *host) {
    static hbf_plugin table = {};
    const char *path = std::getenv("HBF_HOSTILE_REAL");
    void *const library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    void *const entry = library ? dlsym(library, HBF_PLUGIN_QUERY_SYMBOL) : nullptr;
    if (!entry) return nullptr;
    real = reinterpret_cast<hbf_plugin_query_fn>(entry)(host_abi_max, host);
    if (!real) return nullptr;
    table = *real;
    table.create = create;
    return &table;
}
