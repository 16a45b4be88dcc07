// SPDX-License-Identifier: Apache-2.0
// A plugin's library, as the linker left it. Nothing of it runs.
#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "conformance/suite/lifecycle/driver_libraries.hpp"
#include "core/common/fd.hpp"
#include "core/loader/bind.hpp"
#include "core/loader/elf_details.hpp"
#include "tools/plugin/checks.hpp"

namespace hbf::tools::plugin {
namespace {

using loader::ElfDetails;
using loader::ElfFacts;

// Debian 12, the oldest system that HBF itself is made for.
constexpr unsigned oldest_glibc_minor = 36;

std::string listed(const std::vector<std::string> &names, size_t most = 8) {
    std::vector<std::string> shown(names.begin(), names.begin() + static_cast<ptrdiff_t>(std::min(names.size(), most)));
    if (names.size() > most) shown.push_back(fmt::format("and {} more", names.size() - most));
    return fmt::format("{}", fmt::join(shown, ", "));
}

void check_exports(const ElfDetails &details, Findings &out) {
    std::vector<std::string> others = details.exported;
    std::erase(others, HBF_PLUGIN_QUERY_SYMBOL);
    if (others.empty())
        return out.pass("file.exports", "HBF-ABI-1", fmt::format("{} and nothing else", HBF_PLUGIN_QUERY_SYMBOL));
    out.fail("file.exports", "HBF-ABI-1", fmt::format("{} other symbols are exported: {}", others.size(), listed(others)),
             "link with the flags of hbf-plugin-sdk.pc, whose version script keeps all but the entry symbol local");
}

void check_flags(const ElfDetails &details, Findings &out) {
    if (details.stays)
        out.pass("file.stays", "HBF-LIFE-3", "marked as never to be unloaded");
    else
        out.fail("file.stays", "HBF-LIFE-3", "it may be unloaded", "link with -Wl,-z,nodelete (hbf-plugin-sdk.pc has it)");
    if (details.binds_at_load)
        out.pass("file.binds_at_load", "HBF-LIFE-3", "every symbol is resolved when it is loaded");
    else
        out.fail("file.binds_at_load", "HBF-LIFE-3", "symbols are left to be resolved at their first use",
                 "link with -Wl,-z,now (hbf-plugin-sdk.pc has it)");
    if (!details.executable_stack)
        out.pass("file.stack", "", "the stack stays without execute permission");
    else
        out.fail("file.stack", "", "it asks for an executable stack, which newer systems refuse to load",
                 "link with -Wl,-z,noexecstack, and give assembler sources a .note.GNU-stack section");
    if (!details.text_relocations)
        out.pass("file.text", "", "code is mapped as it is in the file");
    else
        out.warn("file.text", "", "the dynamic linker has to write into its code (DT_TEXTREL)",
                 "compile all of it with -fPIC");
}

void check_search_path(const ElfFacts &facts, Findings &out) {
    if (facts.run_path.empty()) return out.pass("file.search_path", "HBF-SEC-2", "no library search path of its own");
    out.fail("file.search_path", "HBF-SEC-2", fmt::format("it has libraries looked for in \"{}\"", facts.run_path),
             "link without -rpath; open what lies elsewhere with dlopen, by its absolute path");
}

// Of the compiler and the C library: on every machine that has HBF.
bool of_the_system(std::string_view library) {
    constexpr std::array<std::string_view, 12> names = {"libc.so.",    "libm.so.",      "libdl.so.",    "libpthread.so.",
                                                        "librt.so.",   "libstdc++.so.", "libgcc_s.so.", "libatomic.so.",
                                                        "libasan.so.", "libtsan.so.",   "libubsan.so.", "ld-linux"};
    return std::any_of(names.begin(), names.end(), [&](std::string_view name) { return library.starts_with(name); });
}

void check_libraries(const ElfFacts &facts, Findings &out) {
    std::vector<std::string> drivers, paths, others;
    for (const std::string &library : facts.needed) {
        if (library.find('/') != std::string::npos)
            paths.push_back(library);
        else if (conformance::of_a_driver(library))
            drivers.push_back(library);
        else if (!of_the_system(library))
            others.push_back(library);
    }
    if (!paths.empty())
        out.fail("file.libraries", "HBF-SEC-2", fmt::format("libraries are needed by path: {}", listed(paths)),
                 "give them a soname, and link them by name");
    if (!drivers.empty())
        out.fail("file.libraries", "HBF-LIFE-2", fmt::format("drivers' libraries are linked: {}", listed(drivers)),
                 "open them with dlopen in probe and create, by their versioned names");
    if (!others.empty())
        out.warn("file.libraries", "HBF-LIFE-2",
                 fmt::format("where one of these is missing it cannot be loaded: {}", listed(others)),
                 "link them statically, or open them with dlopen where they are needed");
    if (paths.empty() && drivers.empty() && others.empty())
        out.pass("file.libraries", "HBF-LIFE-2",
                 fmt::format("needs {}", facts.needed.empty() ? "none" : listed(facts.needed)));
}

// "libc.so.6 GLIBC_2.38": 38, of others 0.
unsigned glibc_minor(std::string_view version) {
    constexpr std::string_view word = " GLIBC_2.";
    const size_t at = version.find(word);
    unsigned minor = 0;
    if (at != std::string_view::npos)
        std::from_chars(version.data() + at + word.size(), version.data() + version.size(), minor);
    return minor;
}

void check_versions(const ElfDetails &details, Findings &out) {
    const auto newest = std::max_element(details.versions.begin(), details.versions.end(),
                                         [](const auto &a, const auto &b) { return glibc_minor(a) < glibc_minor(b); });
    const unsigned minor = newest == details.versions.end() ? 0 : glibc_minor(*newest);
    if (minor == 0) return out.pass("file.versions", "", "asks for no version of the C library");
    if (minor <= oldest_glibc_minor)
        return out.pass("file.versions", "",
                        fmt::format("asks for glibc 2.{}; HBF itself for 2.{}", minor, oldest_glibc_minor));
    out.warn("file.versions", "",
             fmt::format("asks for glibc 2.{}, while HBF runs from 2.{} on: there it cannot be loaded", minor,
                         oldest_glibc_minor),
             "build it on the oldest system that it is to serve");
}

void check_sanitizer(const ElfFacts &facts, FileVerdict &verdict, Findings &out) {
    const std::string evidence =
        fmt::format("it was built with {}, this host with {}", loader::sanitizer_name(facts.sanitizer),
                    loader::sanitizer_name(loader::host_sanitizer()));
    if (facts.sanitizer == HBF_SANITIZER_NONE || facts.sanitizer == loader::host_sanitizer())
        return out.pass("file.sanitizer", "HBF-ABI-16", evidence);
    verdict.loadable = false;
    out.fail("file.sanitizer", "HBF-ABI-16", evidence, "build both alike; what users get has none");
}

} // namespace

FileVerdict check_file(const std::filesystem::path &library, Findings &out) {
    FileVerdict verdict;
    const Fd file(open(library.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat facts = {};
    if (!file || fstat(file.get(), &facts) != 0) {
        const int error = errno;
        out.cannot_tell("file.elf", "", fmt::format("{}: {}", library.string(), std::strerror(error)),
                        "let this user read it");
        return verdict;
    }
    if (!S_ISREG(facts.st_mode)) {
        out.fail("file.elf", "HBF-ABI-1", fmt::format("{}: not a regular file", library.string()),
                 "name the library itself");
        return verdict;
    }
    verdict.readable = true;
    const loader::FileBytes bytes(file.get(), static_cast<uint64_t>(facts.st_size));
    const ElfFacts elf = loader::examine_elf(bytes, HBF_PLUGIN_QUERY_SYMBOL);
    if (elf.refused) {
        const bool other_machine = elf.refused->reason == Reason::wrong_arch;
        out.fail("file.elf", other_machine ? "" : "HBF-ABI-1", elf.refused->detail,
                 other_machine ? "check it on a machine of its own kind"
                               : "build it with hbf-plugin-sdk.pc, see hbf plugin new");
        return verdict;
    }
    const ElfDetails details = loader::elf_details(bytes);
    verdict.is_plugin = verdict.loadable = true;
    out.pass("file.elf", "HBF-ABI-1", fmt::format("a shared object for this machine, {} bytes", facts.st_size));
    check_exports(details, out);
    check_flags(details, out);
    check_search_path(elf, out);
    check_libraries(elf, out);
    check_versions(details, out);
    check_sanitizer(elf, verdict, out);
    return verdict;
}

} // namespace hbf::tools::plugin
