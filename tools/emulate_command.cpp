// SPDX-License-Identifier: Apache-2.0
// hbf emulate: any command, as if it ran on another machine.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "conformance/sim/model/faults.hpp"
#include "core/common/environment.hpp"
#include "core/output/stream.hpp"
#include "tools/commands.hpp"
#include "tools/emulate/document.hpp"
#include "tools/emulate/libraries.hpp"
#include "tools/emulate/machine_root.hpp"
#include "tools/emulate/run.hpp"

namespace hbf::tools {
namespace {

struct Options {
    std::string machine;
    std::vector<std::string> command, faults;
    uint64_t seed = 1;
    bool list = false, json = false;
};

int refuse(Exit exit, const std::string &why) {
    print_error("hbf emulate: " + why);
    return static_cast<int>(exit);
}

std::vector<std::string> fault_names() {
    std::vector<std::string> names;
    for (const auto &fault : model::all_faults()) names.emplace_back(fault.name);
    return names;
}

// What HBF_EMULATE_FAULTS is to be. Lists are parted at commas, as are a fault's own settings: "flip:p=0.1", "device=0".
std::string joined(const std::vector<std::string> &faults) {
    std::string out;
    for (const std::string &one : faults) {
        const bool of_the_last = one.find('=') < one.find(':');
        out += (out.empty() ? "" : of_the_last ? "," : ";") + one;
    }
    return out;
}

// "" or the fault that nothing here acts on: it would be looked for in vain.
std::string without_effect(const model::Profile &profile, const std::vector<model::FaultSetting> &faults) {
    const auto vendors = emulate::vendors_of(profile);
    for (const model::FaultSetting &one : faults) {
        const auto &info = model::all_faults()[static_cast<size_t>(one.fault)];
        const std::string where(info.where);
        if (one.device >= 0 && static_cast<size_t>(one.device) >= profile.devices.size())
            return fmt::format("{}: device {} of {}, which has {}", info.name, one.device, profile.name,
                               profile.devices.size());
        if (where == "model" || (where == "runtime" && !vendors.empty()) || vendors.contains(where)) continue;
        return fmt::format("{} is for the runtime of {}, and {} has no device of it", info.name,
                           where == "runtime" ? "a vendor" : where, profile.name);
    }
    return "";
}

int list_machines(const Options &o) {
    auto names = emulate::profile_names();
    if (names.empty()) return refuse(Exit::error, "no profiles of machines are here; remedy: build or install hbf whole");
    if (!o.machine.empty()) {
        if (const auto profile = model::load_profile(o.machine); !profile)
            return refuse(Exit::usage, profile.error().message);
        names = {o.machine};
    }
    if (o.json) return print(emulate::machines_json(names)), 0;
    for (const std::string &name : names) {
        const auto profile = model::load_profile(name);
        print(profile ? fmt::format("{:<20} {}\n", name, profile->title)
                      : fmt::format("{:<20} unusable: {}\n", name, profile.error().message));
    }
    return static_cast<int>(Exit::pass);
}

// A program named without a path that is ours is this very one: the plugins beside it are meant.
std::vector<std::string> words_of(std::vector<std::string> command) {
    std::error_code error;
    if (command.front() == "hbf") command.front() = std::filesystem::canonical("/proc/self/exe", error).string();
    return command;
}

std::string banner(const model::Profile &profile, const Options &o) {
    std::string text = fmt::format("EMULATED machine {}: {}\n", profile.name, profile.title);
    for (const auto &device : profile.devices) text += fmt::format("EMULATED   {} (emulated) {}\n", device.name, device.pci);
    if (!o.faults.empty()) text += fmt::format("EMULATED   with faults: {}; seed {}\n", joined(o.faults), o.seed);
    return text + "EMULATED   no figure below is of that hardware";
}

int run_emulated(const Options &o) {
    // Found by name in here, in the processes below, and by what an error lists.
    if (!environment("HBF_EMULATE_PROFILES")) {
        if (const auto folder = emulate::profiles_folder(); !folder.empty())
            ::setenv("HBF_EMULATE_PROFILES", folder.c_str(), 1);
    }
    if (o.list) return list_machines(o);
    if (o.faults == std::vector<std::string>{"help"})
        return print(o.json ? emulate::faults_json() : model::faults_help()), 0;
    if (o.json)
        return refuse(Exit::usage,
                      "--json goes with --list or --fault help; a COMMAND's own document is asked for after --: "
                      "hbf emulate MACHINE -- hbf probe --json");
    if (o.machine.empty()) return refuse(Exit::usage, "no MACHINE; 'hbf emulate --list' names them");
    if (o.command.empty()) return refuse(Exit::usage, "no COMMAND: hbf emulate MACHINE -- COMMAND...");
    if (environment("HBF_EMULATE_ROOT")) return refuse(Exit::usage, "this runs in an emulated machine already");
    const auto profile = model::load_profile(o.machine);
    if (!profile) return refuse(Exit::usage, profile.error().message);
    const auto faults = model::parse_faults(joined(o.faults));
    if (!faults) return refuse(Exit::usage, "--fault: " + faults.error().message);
    if (const std::string idle = without_effect(*profile, *faults); !idle.empty())
        return refuse(Exit::usage, "--fault: " + idle);
    const bool lacking = std::any_of(faults->begin(), faults->end(), [](const model::FaultSetting &one) {
        return one.fault == model::Fault::missing_symbol;
    });
    auto variables =
        emulate::runtime_variables(emulate::vendors_of(*profile), environment("LD_LIBRARY_PATH").value_or(""), lacking);
    if (!variables) return refuse(Exit::error, variables.error().message);
    const auto root = emulate::MachineRoot::make(*profile, *faults);
    if (!root) return refuse(Exit::error, root.error().message);
    std::error_code error;
    variables->push_back("HBF_EMULATE_ROOT=" + root->path().string());
    variables->push_back("HBF_EMULATE_PROFILE=" + std::filesystem::absolute(profile->file, error).string());
    variables->push_back("HBF_EMULATE_FAULTS=" + joined(o.faults));
    variables->push_back(fmt::format("HBF_EMULATE_SEED={}", o.seed));
    print_error(banner(*profile, o));
    const auto code = emulate::run_command(words_of(o.command), environment_changed(*variables));
    return code ? *code : refuse(Exit::error, code.error().message);
}

} // namespace

Command emulate_command() {
    auto o = std::make_shared<Options>();
    Command command;
    command.name = "emulate";
    command.summary = "run a command as if on a machine with other hardware";
    command.description =
        "The vendors' runtimes are emulated ones of the same names and symbols, and what the machine has is made up from a "
        "profile; the plugins are the ones that are installed. Whatever is found there is called emulated in every report, "
        "and no figure says anything about the hardware's speed. Faults are planted below the runtime: a plugin or the "
        "conformance suite has to notice them. \"hbf\" as COMMAND is this very program.";
    command.examples = "  hbf emulate --list                                          the machines\n"
                       "  hbf emulate --list --json                                   with devices and links, as JSON\n"
                       "  hbf emulate h100x4 -- hbf probe                             who serves on four H100\n"
                       "  hbf emulate mi300x -- hbf conformance --profile quick       the suite against the AMD plugin\n"
                       "  hbf emulate a100 --fault drop-tail -- hbf conformance       a fault that the suite has to find\n"
                       "  hbf emulate a100 --fault help                               the faults";
    command.options = {
        {"MACHINE", &o->machine, "MACHINE", "name of a profile, or a file (TOML)", false, "", Offer::by_name,
         emulate::profile_names},
        {"COMMAND", &o->command, "COMMAND", "what to run, with its arguments, after --"},
        {"--fault", &o->faults, "FAULT", "NAME:key=value,...; repeatable; 'help' lists them", false, "", Offer::by_name,
         fault_names},
        {"--seed", Number{&o->seed}, "N", "of every choice: order between streams, where faults act (default: 1)"},
        {"--list", &o->list, "", "list the machines, or the one named, and end"},
        {"--json", &o->json, "", "with --list or --fault help: one JSON document on stdout"},
    };
    command.group = "Measure and test";
    command.exits = {{Exit::usage, "no such machine or fault, or nothing to run; else the command's own code"},
                     {Exit::error, "the emulated runtimes are not here, or the command could not be started"}};
    command.run = [o] { return run_emulated(*o); };
    return command;
}

} // namespace hbf::tools
