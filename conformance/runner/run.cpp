// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/run.hpp"

#include <algorithm>
#include <chrono>
#include <random>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include "conformance/runner/case_process.hpp"
#include "conformance/runner/decide.hpp"
#include "conformance/runner/description.hpp"
#include "conformance/runner/host_facts.hpp"
#include "conformance/runner/private_cache.hpp"
#include "conformance/runner/profile.hpp"
#include "conformance/runner/seed.hpp"
#include "conformance/runner/self_test.hpp"

namespace hbf::conformance {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t most_tried_again = 5;

std::string utc(const char *format) {
    const std::time_t now = std::time(nullptr);
    std::tm parts = {};
    gmtime_r(&now, &parts);
    char text[32];
    return {text, std::strftime(text, sizeof text, format, &parts)};
}

auto refuse(RunError::Kind kind, std::string message) {
    return tl::unexpected(RunError{kind, std::move(message)});
}

struct Planned {
    CaseEntry entry;
    uint32_t mask = 0;
    uint64_t base = 0;
};

class Run {
public:
    Run(const RunOptions &options, const RunHooks &hooks) : options_(options), hooks_(hooks) {
        how_.program = options.case_program;
        how_.interrupted = hooks.interrupted;
        if (!cache_.folder().empty()) how_.environment = {cache_.variable()};
    }

    tl::expected<RunRecord, RunError> go() {
        const auto all = list_cases(how_);
        if (!all) return refuse(RunError::other, all.error());
        auto chosen = choose_cases(*all, options_.filter);
        if (!chosen) return refuse(RunError::usage, chosen.error());
        if (const auto wrong = unmatched_waiver(options_.waivers, *all); !wrong.empty())
            return refuse(RunError::usage, wrong);

        begin();
        const RunRecord description = describe_plugin(how_, real_); // what is tested, not the wrapper
        take(description);
        if (description.verdict == "untested") {
            run_.verdict = "untested";
            run_.verdict_reason = description.verdict_reason;
        } else {
            if (!description.verdict_reason.empty())
                run_.limits.emplace_back("not all could be asked", description.verdict_reason);
            if (options_.mask & ~hideable(description))
                run_.limits.emplace_back("not hidden",
                                         "coherence: a tier is in a software domain, which nobody can use without");
            self_test(*all, declared_capabilities(description));
            if (auto ran = run_cases(plan(*chosen, description)); !ran) return tl::unexpected(ran.error());
            try_failures_again(*chosen);
            finish(left_out(*all, *chosen));
        }
        run_.duration_s = std::chrono::duration<double>(Clock::now() - began_).count();
        return std::move(run_);
    }

private:
    void begin() {
        run_.suite_version = HBF_RUNNER_VERSION;
        run_.suite_revision = options_.revision;
        run_.command_line = options_.command_line;
        run_.preflight = options_.preflight;
        run_.started = utc("%Y-%m-%dT%H:%M:%SZ");
        run_.profile = to_string(options_.filter.profile);
        // Within 32 bits, so that it is easy to read, say and type again.
        run_.seed = options_.seed.value_or(std::random_device()() | 1u);
        arguments_.subject.plugin_file = options_.target.plugin_file;
        arguments_.subject.device_id = options_.target.device_id;
        arguments_.subject.options = options_.target.options;
        arguments_.subject.mask = options_.mask;
        arguments_.subject.peer = options_.target.peer;
        arguments_.profile = options_.filter.profile;
        real_ = arguments_;
        if (!options_.inject.empty()) {
            arguments_ = behind_wrapper(arguments_, options_.wrapper.string(), options_.inject);
            run_.inject.emplace_back("faults", options_.inject);
        }
    }

    void take(const RunRecord &description) {
        run_.plugin = description.plugin;
        run_.device = description.device;
        run_.limits = description.limits;
        run_.emulated = description.emulated;
        for (const auto &[key, value] : options_.target.options) run_.plugin.emplace_back("option " + key, value);
        if (const auto inventory = read_inventory()) {
            run_.host = host_facts(*inventory);
            run_.health_before = host_health(*inventory);
        }
        for (const auto &counter : description.health_before) run_.health_before.push_back(counter);
    }

    void self_test(const std::vector<CaseEntry> &all, uint32_t declared) {
        if (!options_.inject.empty()) {
            run_.self_test = "self-test: none, since this run has faults injected on purpose";
            return;
        }
        const auto entry =
            std::find_if(all.begin(), all.end(), [](const CaseEntry &one) { return one.name == "selftest.transfer"; });
        if (!options_.self_test || entry == all.end()) {
            run_.self_test = options_.self_test ? "self-test: this build has none" : "self-test: left out";
            return;
        }
        if (hooks_.starting) hooks_.starting(0, 0, "self-test");
        CaseArguments arguments = real_;
        arguments.seed = case_seed(run_.seed, entry->name);
        const SelfTest test = run_self_test(how_, *entry, options_.wrapper.string(), arguments, declared);
        run_.self_test = test.line;
        run_.self_test_passed = test.passed;
    }

    // A host that does not know of hbf.coherence/1 has no business in a tier of a software domain: there it is not optional.
    static uint32_t hideable(const RunRecord &description) {
        const bool needed = declared_capabilities(description) & need::software_domain;
        return need::maskable & ~(needed ? need::coherence : 0u);
    }

    // Each case, then, with the optional capabilities hidden, those that must not notice.
    std::vector<Planned> plan(const std::vector<CaseEntry> &chosen, const RunRecord &description) const {
        const uint32_t declared = declared_capabilities(description) & hideable(description);
        std::vector<Planned> out;
        for (uint64_t round = 0; round < options_.repeat; ++round) {
            const uint64_t base = run_.seed + round; // case_seed() takes neighbours far apart
            for (const CaseEntry &entry : chosen) {
                out.push_back({entry, options_.mask & hideable(description), base});
                const uint32_t hidden = declared & ~needed_by(entry);
                if (entry.masked && !options_.mask && hidden) out.push_back({entry, hidden, base});
            }
        }
        return out;
    }

    tl::expected<CaseRecord, RunError> run_one(const Planned &one) {
        CaseArguments arguments = arguments_;
        arguments.subject.mask = one.mask;
        arguments.seed = case_seed(one.base, one.entry.name);
        auto record =
            run_case_process(how_, one.entry, arguments, replay_command(options_, one.entry.name, one.base, one.mask));
        if (!record) return refuse(RunError::other, record.error());
        return std::move(*record);
    }

    // "": the run goes on.
    std::string why_stopped() const {
        if (interrupted()) return "the run was interrupted before";
        if (hung_ < most_hung || options_.keep_going) return "";
        return fmt::format("{} cases waited for work that never completed (--keep-going runs the others too)", hung_);
    }

    static bool hung(const CaseRecord &record) {
        const auto never = [](const Evidence &one) { return one.fault_class == fault::never_completes; };
        return record.status == Status::timeout ||
               (failed(record.status) && std::any_of(record.evidence.begin(), record.evidence.end(), never));
    }

    tl::expected<void, RunError> run_cases(const std::vector<Planned> &planned) {
        const WaiverFacts facts = waiver_facts(run_, utc("%Y-%m-%d"));
        for (size_t i = 0; i < planned.size(); ++i) {
            if (const std::string why = why_stopped(); !why.empty()) {
                CaseRecord record;
                record.name = planned[i].entry.name;
                record.rules = planned[i].entry.rules;
                record.reason = why;
                run_.cases.push_back(std::move(record)); // not_run
                continue;
            }
            if (hooks_.starting) hooks_.starting(i, planned.size(), planned[i].entry.name);
            auto record = run_one(planned[i]);
            if (!record) return tl::unexpected(record.error());
            apply_waivers(*record, options_.waivers, facts);
            hung_ += hung(*record);
            run_.cases.push_back(std::move(*record));
            ran_.push_back(planned[i]);
            if (hooks_.finished) hooks_.finished(run_.cases.back());
        }
        return {};
    }

    // Says of the first failures whether they come again when nothing ran before: the verdict stays.
    void try_failures_again(const std::vector<CaseEntry> &chosen) {
        size_t tried = 0;
        for (size_t i = 0; i < ran_.size() && !interrupted() && tried < most_tried_again; ++i) {
            CaseRecord &record = run_.cases[i];
            if (!failed(record.status) || hung(record) || record.status == Status::xpass) continue;
            if (chosen.size() == 1 && options_.repeat == 1) return; // it was alone
            ++tried;
            if (hooks_.starting) hooks_.starting(0, 0, record.name + " again");
            const auto again = run_one(ran_[i]);
            if (!again || again->status == Status::interrupted) return;
            record.notes.push_back(
                failed(again->status)
                    ? fmt::format("alone and with the same seed it ends again as {}", to_string(again->status))
                    : fmt::format("alone and with the same seed it then ended as {}: it depends on what ran "
                                  "before, or on chance",
                                  to_string(again->status)));
        }
    }

    void finish(size_t left_out) {
        run_.interrupted = interrupted();
        if (const auto inventory = read_inventory()) run_.health_after = host_health(*inventory);
        if (!run_.interrupted)
            for (const auto &counter : describe_plugin(how_, real_).health_before) run_.health_after.push_back(counter);
        decide(run_, left_out);
    }

    size_t left_out(const std::vector<CaseEntry> &all, const std::vector<CaseEntry> &chosen) const {
        CaseFilter whole;
        whole.profile = options_.filter.profile;
        const auto every = choose_cases(all, whole);
        return every && every->size() > chosen.size() ? every->size() - chosen.size() : 0;
    }

    bool interrupted() const { return hooks_.interrupted && hooks_.interrupted() != 0; }

    const RunOptions &options_;
    const RunHooks &hooks_;
    PrivateCache cache_;
    CaseProcess how_;
    CaseArguments arguments_, real_; // as run; and without the wrapper
    RunRecord run_;
    std::vector<Planned> ran_;
    size_t hung_ = 0; // cases that waited for what never came
    Clock::time_point began_ = Clock::now();
};

std::string quoted(const std::string &word) {
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view("-_./=:,+@%").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
    std::string out = "'";
    for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

} // namespace

std::string replay_command(const RunOptions &options, const std::string &name, uint64_t base_seed, uint32_t mask) {
    std::string out = "hbf conformance --plugin " + quoted(options.target.plugin_file);
    if (!options.target.device_id.empty()) out += " --device " + quoted(options.target.device_id);
    for (const auto &[key, value] : options.target.options) out += " --option " + quoted(key + "=" + value);
    if (!options.target.peer_asked.empty()) out += " --peer " + quoted(options.target.peer_asked);
    if (options.filter.profile != Profile::quick) out += fmt::format(" --profile {}", to_string(options.filter.profile));
    if (!options.inject.empty()) out += " --inject " + quoted(options.inject);
    if (mask) {
        std::string names = need_names(mask);
        names.erase(std::remove(names.begin(), names.end(), ' '), names.end());
        out += " --mask " + names;
    }
    return out + fmt::format(" --filter {} --seed {:#x}", name, base_seed);
}

tl::expected<uint32_t, std::string> mask_of(const std::vector<std::string> &names) {
    uint32_t out = 0;
    std::vector<std::string> known = {"all"};
    for (uint32_t bit = 1; bit; bit <<= 1)
        if (need::maskable & bit) known.emplace_back(need_name(bit));
    for (const std::string &name : names) {
        const auto found = std::find(known.begin(), known.end(), name);
        if (found == known.end())
            return tl::unexpected(
                fmt::format("'{}' is no capability that a plugin may lack; there are: {}", name, fmt::join(known, ", ")));
        if (name == "all") out = need::maskable;
        for (uint32_t bit = 1; bit; bit <<= 1)
            if ((need::maskable & bit) && need_name(bit) == name) out |= bit;
    }
    return out;
}

tl::expected<RunRecord, RunError> run_suite(const RunOptions &options, const RunHooks &hooks) {
    return Run(options, hooks).go();
}

} // namespace hbf::conformance
