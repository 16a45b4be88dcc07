// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/trial.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "conformance/runner/programs.hpp"
#include "core/common/environment.hpp"

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

// What hides devices, or says where a runtime is, would be this machine's.
constexpr const char *masks[] = {"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
                                 "ZE_AFFINITY_MASK",     "MLU_VISIBLE_DEVICES", "NEUWARE_HOME"};

std::string joined(std::string_view first, std::string_view second) {
    return second.empty() ? std::string(first) : fmt::format("{};{}", first, second);
}

tl::expected<Trial, std::string> emulated_trial(const Mutant &mutant, bool mutated) {
    const std::string vendor(mutant.vendor);
    const auto program = case_program(), plugin = vendor_plugin(vendor), runtime = emulated_runtime(vendor);
    for (const auto *const part : {&program, &plugin, &runtime})
        if (!*part) return tl::unexpected(part->error());
    for (const char *const mask : masks)
        if (environment(mask)) return tl::unexpected(fmt::format("{} is set, which hides what is emulated", mask));
    Trial trial{*program, {plugin->string(), "", {}}};
    if (const auto peer = host_plugin()) trial.subject.peer.plugin_file = peer->string();
    for (const auto &[name, value] : mutant.options) trial.subject.options.emplace_back(name, value);
    const std::string faults = mutated ? joined(mutant.fault, mutant.given) : std::string(mutant.given);
    trial.environment = {fmt::format("HBF_EMULATE_PROFILE={}", mutant.machine), "HBF_EMULATE_FAULTS=" + faults};
    const std::string path = environment("LD_LIBRARY_PATH").value_or("");
    trial.environment.push_back("LD_LIBRARY_PATH=" + runtime->string() + (path.empty() ? "" : ":" + path));
    if (vendor != "level_zero") return trial;
    const auto driver = level_zero_driver(); // its loader looks for no name, but is told the file
    if (!driver) return tl::unexpected(driver.error());
    trial.environment.push_back("ZE_ENABLE_ALT_DRIVERS=" + driver->string());
    return trial;
}

} // namespace

std::string Trial::key() const {
    std::string key = program.string() + '\n' + subject.plugin_file;
    for (const auto &[name, value] : subject.options) key += '\n' + name + '=' + value;
    for (const std::string &variable : environment) key += '\n' + variable;
    return key;
}

tl::expected<Trial, std::string> trial_of(const Mutant &mutant, bool mutated) {
    if (mutant.base == Base::emulated) return emulated_trial(mutant, mutated);
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
