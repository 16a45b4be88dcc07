// SPDX-License-Identifier: Apache-2.0
// One plugin for many tests: its own file name says what it is called and how it misbehaves. "good.so", "better.so" and
// whatever else is not known behave well; "probe_segv.so" crashes in probe, "query_newer.so" is for a newer ABI.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>

#include <dlfcn.h>
#include <unistd.h>

#include "core/loader/bind.hpp"
#include "hbf/abi/plugin.h"
#include "hbf/abi/queue.h"
#include "hbf/abi/tier.h"

namespace {

char own_name[128], own_path[4096]; // plain, since they are filled before any constructor ran

bool is(const char *name) {
    return std::strcmp(own_name, name) == 0;
}

void flood() {
    static char line[4096];
    std::memset(line, 'x', sizeof line - 1);
    line[sizeof line - 1] = '\n';
    for (int i = 0; i < 1024; ++i) { // 4 MiB
        if (write(i % 2 + 1, line, sizeof line) < 0) return;
    }
}

// A helper that outlives the call; its number is left in PLUGIN.helper, for the test.
void leave_helper(bool own_session) {
    const std::string made = own_path + std::string(".new"), whole = own_path + std::string(".helper");
    const pid_t helper = fork();
    if (helper == 0) {
        if (own_session) setsid();
        std::ofstream(made) << getpid();
        std::rename(made.c_str(), whole.c_str());
        for (;;) pause();
    }
    while (helper > 0 && access(whole.c_str(), F_OK) != 0) usleep(1000);
}

// Does what the file name asks for at `place`: "constructor_hang", "create_exit0", ...
void misbehave(const char *place) {
    const size_t length = std::strlen(place);
    if (std::strncmp(own_name, place, length) != 0 || own_name[length] != '_') return;
    const std::string what = own_name + length + 1;
    if (what == "segv") std::raise(SIGSEGV);
    if (what == "ill") std::raise(SIGILL);
    if (what == "abort") std::abort();
    if (what == "exit0") std::exit(0);
    if (what == "exit1") std::exit(1);
    if (what == "throw") throw std::runtime_error("thrown by a plugin");
    if (what == "flood") flood();
    if (what == "hang") {
        for (;;) pause();
    }
    if (what == "fork") leave_helper(false);
    if (what == "setsid" || what == "setsidhang") leave_helper(true);
    if (what == "setsidhang") {
        for (;;) pause();
    }
    if (what == "chatter" && write(2, "a word from the driver\n", 23) < 0) std::abort();
}

hbf_string text_of(const char *text) {
    return {text, std::strlen(text)};
}

hbf_status complain(hbf_status status, const char *message, hbf_error *error) {
    const hbf_string text = text_of(message);
    if (error && error->message && error->capacity > text.size) {
        std::memcpy(error->message, text.data, text.size + 1);
        error->length = text.size;
    }
    return status;
}

hbf_status probe(const hbf_probe_in *, hbf_probe_out *out, hbf_error *error) noexcept {
    misbehave("probe");
    if (is("answer_no_device")) return complain(HBF_UNAVAILABLE, "no device of this kind", error);
    if (is("answer_stub")) return complain(HBF_UNAVAILABLE, "driver_stub: libacme.so.1 is the build-time stub", error);
    if (is("answer_absent")) return complain(HBF_UNAVAILABLE, "driver_absent: libacme.so.1 is not installed", error);
    if (is("answer_too_old")) return complain(HBF_UNSUPPORTED, "driver 1.0 is older than 2.0", error);
    if (is("answer_denied")) return complain(HBF_PERMISSION, "/dev/acme0: Permission denied", error);
    if (is("answer_busy")) return complain(HBF_BUSY, "another process has it", error);
    if (is("answer_internal")) return complain(HBF_INTERNAL, "a bug", error);
    out->device_count = is("answer_nothing") ? 0 : is("answer_twins") ? 2 : is("answer_many") ? 5000000 : 1;
    for (uint32_t i = 0; i < out->device_count && i < out->device_capacity; ++i) {
        auto *device = reinterpret_cast<hbf_device_info *>(reinterpret_cast<char *>(out->devices) + i * out->device_stride);
        device->reality = HBF_REALITY_REAL;
        device->numa_node = -1;
        std::strcpy(device->id, is("answer_no_id") ? "" : "device0");
        std::strcpy(device->name, "a device\x1b[31m of a test");
    }
    return HBF_OK;
}

hbf_status describe(hbf_instance *, uint32_t, hbf_tier_info *out, hbf_error *) noexcept {
    out->kind = HBF_TIER_HBM;
    out->media = HBF_MEDIA_DRAM;
    out->reality = HBF_REALITY_REAL;
    out->access = HBF_ACCESS_CPU | HBF_ACCESS_DMA;
    out->numa_node = -1;
    out->coherence_domain = out->extended_by = HBF_TIER_NONE;
    out->capacity = out->available = 1 << 20;
    out->granule = out->alignment = out->copy_alignment = 4096;
    std::strcpy(out->name, "memory0");
    return HBF_OK;
}

hbf_status create(const hbf_create_in *, hbf_instance **out, hbf_error *error) noexcept {
    misbehave("create");
    if (is("create_error")) return complain(HBF_EXHAUSTED, "no memory left on the device", error);
    static char instance;
    *out = is("create_nothing") ? nullptr : reinterpret_cast<hbf_instance *>(&instance);
    return HBF_OK;
}

void destroy(hbf_instance *) noexcept {
    misbehave("destroy");
}

const void *get_extension(hbf_instance *, hbf_string id) noexcept {
    static hbf_tier_ext tiers = {};
    static hbf_queue_ext queue = {};
    tiers.struct_size = sizeof tiers;
    tiers.tier_count = 1;
    tiers.describe = describe;
    queue.struct_size = sizeof queue;
    const std::string name(id.data, id.size);
    if (name == HBF_EXT_TIER && !is("create_no_tier")) return &tiers;
    if (name == HBF_EXT_QUEUE) return &queue;
    return nullptr;
}

hbf_plugin table;

__attribute__((constructor)) void start() {
    Dl_info info = {};
    if (dladdr(own_name, &info) != 0 && info.dli_fname) {
        std::strncpy(own_path, info.dli_fname, sizeof own_path - 1);
        const char *slash = std::strrchr(info.dli_fname, '/');
        std::strncpy(own_name, slash ? slash + 1 : info.dli_fname, sizeof own_name - 1);
        if (char *dot = std::strchr(own_name, '.')) *dot = '\0';
    }
    misbehave("constructor");
    table.struct_size = is("query_short") ? 32 : sizeof table;
    table.abi_version = is("query_newer") || is("query_newer_null") ? HBF_ABI_MAKE(99, 0)
                        : is("query_older")                         ? HBF_ABI_MAKE(0, 0)
                                                                    : HBF_ABI_VERSION;
    table.name = is("query_other_name") ? "somebody_else" : is("query_null_name") ? nullptr : own_name;
    table.vendor = "Test";
    table.version = is("better") ? "1.10.0" : "1.9.0";
    table.description = "a plugin of the loader's tests";
    table.compiler = "any";
    table.build_id = "";
    table.sanitizer = hbf::loader::host_sanitizer();
    if (is("query_sanitizer")) table.sanitizer ^= HBF_SANITIZER_ADDRESS | HBF_SANITIZER_THREAD;
    table.probe = is("query_null_functions") ? nullptr : probe;
    table.create = create;
    table.destroy = destroy;
    table.get_extension = get_extension;
}

} // namespace

extern "C" __attribute__((visibility("default"))) const hbf_plugin *hbf_plugin_query(uint32_t host_abi_max,
                                                                                     const hbf_host_info *) {
    misbehave("query");
    if (is("query_null")) return nullptr;
    if (is("query_newer_null") && host_abi_max < HBF_ABI_MAKE(99, 0)) return nullptr;
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a pointer to nowhere is what is asked for
    if (is("query_wild")) return reinterpret_cast<const hbf_plugin *>(uintptr_t{64});
    if (is("query_fickle")) {
        static hbf_plugin other;
        static bool second = false;
        other = table;
        second = !second;
        return second ? &table : &other;
    }
    return &table;
}
