// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/trial.hpp"

#include <cstdlib>

#include "conformance/runner/programs.hpp"

namespace hbf::conformance {
namespace {

namespace fs = std::filesystem;

tl::expected<fs::path, std::string> program_of(const Mutant &mutant, bool mutated) {
    if (mutant.base == Base::guard && mutated) return mutant_file("guards/hbf-case-" + std::string(mutant.variant));
    return case_program();
}

tl::expected<fs::path, std::string> library_of(const Mutant &mutant, bool mutated) {
    if (mutant.base == Base::guard) return simulated_device();
    if (mutant.base == Base::variant && mutated)
        return mutant_file("variants/hbf_plugin_" + std::string(mutant.variant) + ".so");
    return inject_plugin();
}

} // namespace

std::string Trial::key() const {
    std::string key = program.string() + '\n' + subject.plugin_file;
    for (const auto &[name, value] : subject.options) key += '\n' + name + '=' + value;
    return key;
}

tl::expected<Trial, std::string> trial_of(const Mutant &mutant, bool mutated) {
    const auto program = program_of(mutant, mutated), library = library_of(mutant, mutated);
    const auto below = mutant.base == Base::host ? host_plugin() : simulated_device();
    for (const auto *const part : {&program, &library, &below})
        if (!*part) return tl::unexpected(part->error());
    Trial trial{*program, {library->string(), "", {}}};
    // The other one of the two: its own is the device under test.
    const auto peer = mutant.base == Base::host ? simulated_device() : host_plugin();
    if (peer) trial.subject.peer.plugin_file = peer->string();
    auto &options = trial.subject.options;
    if (mutant.base != Base::guard) options.emplace_back("inject.plugin", below->string());
    // Of two, the later one lies nearer the device.
    if (mutated && !mutant.fault.empty()) options.emplace_back("inject.fault", mutant.fault);
    if (!mutant.given.empty()) options.emplace_back("inject.fault", mutant.given);
    for (const auto &[name, value] : mutant.options) options.emplace_back(name, value);
    return trial;
}

TrialFolder::TrialFolder(SubjectOptions &subject) {
    for (auto &option : subject.options) {
        if (option.second != "@folder") continue;
        if (path_.empty()) {
            std::string name = (fs::temp_directory_path() / "hbf-mutant-XXXXXX").string();
            if (!mkdtemp(name.data())) return; // the case finds no such folder, and says so
            path_ = name;
        }
        option.second = path_.string();
    }
}

TrialFolder::~TrialFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
}

} // namespace hbf::conformance
