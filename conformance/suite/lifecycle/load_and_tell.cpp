// SPDX-License-Identifier: Apache-2.0
#include "conformance/suite/lifecycle/load_and_tell.hpp"

#include <filesystem>

#include <dlfcn.h>
#include <unistd.h>

#include "conformance/suite/visible.hpp"

namespace hbf::conformance {
namespace {

constexpr int to_parent = 3;
constexpr double limit_s = 10;

bool tell(const std::string &text) {
    return write(to_parent, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

} // namespace

int load_and_tell(const char *library) {
    const Visible before = look();
    void *const opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!opened) {
        const char *why = dlerror();
        return tell(std::string("refused ") + (why ? why : "") + "\n" + end_mark) ? 1 : 2;
    }
    std::string found;
    if (const std::string change = first_change(before, look()); !change.empty()) found += "changed " + change + "\n";
    dlclose(opened);
    if (!dlopen(library, RTLD_NOW | RTLD_NOLOAD)) found += "gone\n";
    return tell(found + end_mark) ? 0 : 2;
}

Forked load_in_new_process(const std::string &library) {
    return run_program({std::filesystem::canonical("/proc/self/exe").string(), "--load", library}, limit_s);
}

} // namespace hbf::conformance
