// SPDX-License-Identifier: Apache-2.0
// hbf doctor: are this machine's settings, links and versions fit to be measured and trusted?
#include <filesystem>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "core/host/root.hpp"
#include "core/output/stream.hpp"
#include "tools/commands.hpp"
#include "tools/doctor/report.hpp"
#include "tools/emulated.hpp"

namespace hbf::tools {
namespace {

struct Options {
    std::string root = "/", known_bad;
    std::vector<std::string> checks;
    bool json = false, fix = false, list = false, strict = false;
};

int code(Exit exit) {
    return static_cast<int>(exit);
}

int refuse(Exit exit, const std::string &why) {
    print_error("hbf doctor: " + why);
    return code(exit);
}

Exit judge(const doctor::Examination &examination, bool strict) {
    using doctor::Verdict;
    const size_t warned = examination.count(Verdict::warn), unknown = examination.count(Verdict::cannot_tell);
    if (examination.count(Verdict::fail) > 0 || (strict && warned > 0)) return Exit::fail;
    const bool nothing_told = warned == 0 && examination.count(Verdict::pass) == 0;
    return unknown > 0 && (strict || nothing_told) ? Exit::error : Exit::pass;
}

std::vector<std::string> check_names() {
    std::vector<std::string> out;
    for (const doctor::Check &check : doctor::all_checks()) out.emplace_back(check.id);
    return out;
}

int run_doctor(const Options &o) {
    if (o.json && o.fix) return refuse(Exit::usage, "--fix prints commands; --json has them with each finding");
    const auto checks = doctor::choose_checks(o.checks);
    if (!checks) return refuse(Exit::usage, checks.error());
    if (o.list) return print(o.json ? doctor::list_json(*checks) : doctor::list_text(*checks)), 0;
    if (std::error_code error; !std::filesystem::is_directory(o.root, error))
        return refuse(Exit::usage, fmt::format("--root {}: {}", o.root, error ? error.message() : "not a folder"));
    const auto known_bad = doctor::load_known_bad(o.known_bad);
    if (!known_bad) return refuse(Exit::error, known_bad.error());
    const auto examination = doctor::examine(host::machine_root(o.root).string(), *checks, *known_bad);
    print(o.json  ? doctor::report_json(examination)
          : o.fix ? said_emulated(doctor::report_fixes(examination))
                  : said_emulated(doctor::report_text(examination)));
    return code(judge(examination, o.strict));
}

} // namespace

Command doctor_command() {
    auto o = std::make_shared<Options>();
    Command command;
    command.name = "doctor";
    command.summary = "look whether this machine's settings, links and versions can be trusted";
    command.description =
        "Looks at kernel, memory, limits, PCI links, IOMMU, error counts, drives, CXL and drivers without any vendor's "
        "program. Each check passes, warns, fails, does not apply or cannot tell, with what was seen, why it matters and "
        "what "
        "to do. What cannot be read never passes. Versions are compared with a list that names its sources "
        "(known_bad.toml). hbf conformance makes the same checks first and keeps them in its report.";
    command.examples = "  hbf doctor                       every check of this machine\n"
                       "  hbf doctor --check memory,iommu  two families of checks\n"
                       "  hbf doctor --fix                 commands that would put it right, to read and copy\n"
                       "  hbf doctor --root /mnt/host      the machine whose /sys and /proc lie there\n"
                       "  hbf doctor --json --strict       for programs; a warning fails";
    command.options = {
        {"--root", &o->root, "DIR", "look at the machine whose /sys, /proc and /dev lie below DIR (default: /)"},
        {"--check", &o->checks, "ID", "only this check or family: pci.link_width, memory; repeatable", false, "",
         Offer::by_name, check_names},
        {"--list", &o->list, "", "list the checks, what they ask for and where they look, and end"},
        {"--fix", &o->fix, "", "print commands that would put it right; nothing is run"},
        {"--strict", &o->strict, "", "a warning fails; a check that cannot tell ends with 3"},
        {"--known-bad", &o->known_bad, "FILE", "this list of bad versions instead of the installed one (TOML)"},
        {"--json", &o->json, "", "one JSON document with all evidence"},
    };
    command.group = "Look";
    command.exits = {{Exit::pass, "no check failed"},
                     {Exit::fail, "a check failed; with --strict: or warned"},
                     {Exit::error, "nothing could be told, or the list of bad versions cannot be read"}};
    command.without_root = "PCI registers and the kernel's log: those checks cannot tell, and are named at the end";
    command.run = [o] { return run_doctor(*o); };
    return command;
}

} // namespace hbf::tools
