// SPDX-License-Identifier: Apache-2.0
#include "conformance/mutants/matrix.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include <fmt/format.h>

#include "conformance/inject/fault.hpp"
#include "conformance/mutants/agreement.hpp"
#include "conformance/mutants/pool.hpp"
#include "conformance/mutants/trial.hpp"
#include "conformance/runner/case_process.hpp"
#include "conformance/runner/filter.hpp"
#include "conformance/runner/programs.hpp"
#include "conformance/runner/seed.hpp"
#include "conformance/sim/model/faults.hpp"
#include "hbf/sdk/failure.hpp"

namespace hbf::conformance {
namespace {

// One run of a case, for everyone who asked for it.
struct Job {
    Trial trial;
    const CaseEntry *entry = nullptr;
    const Mutant *due = nullptr; // what a case must find
    std::vector<Attempt *> for_whom = {};
};

Status run_once(const Job &job, const MatrixOptions &options, uint64_t seed, std::string &reason) {
    CaseArguments arguments;
    arguments.subject = job.trial.subject;
    arguments.seed = case_seed(seed, job.entry->name);
    const TrialFolder folder(arguments.subject);
    CaseProcess how;
    how.program = job.trial.program;
    how.interrupted = options.interrupted;
    how.environment = job.trial.environment;
    // All of a machine in software, and its watchdog not the device's.
    if (!how.environment.empty()) how.slower *= 2;
    const auto record = run_case_process(how, *job.entry, arguments, "");
    reason = record ? record->reason : record.error();
    return record ? record->status : Status::internal_error;
}

// "status tries reason"
std::string run_job(const Job &job, const MatrixOptions &options) {
    Attempt attempt;
    do {
        attempt.status = run_once(job, options, options.seed + attempt.tries, attempt.reason);
        ++attempt.tries;
    } while (job.due && attempt.status != job.due->verdict && attempt.tries < 2);
    for (char &c : attempt.reason)
        if (c == '\n') c = ' ';
    return fmt::format("{} {} {}", to_string(attempt.status), attempt.tries, attempt.reason);
}

Attempt attempt_from(const std::string &case_name, const std::string &line) {
    const size_t first = line.find(' '), second = line.find(' ', first + 1);
    return {case_name, status_from(line.substr(0, first)), line.substr(second + 1),
            static_cast<unsigned>(std::stoul(line.substr(first + 1, second - first - 1)))};
}

bool matches(const std::vector<std::string> &patterns, std::string_view name) {
    return patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                           [&](const std::string &pattern) { return glob_matches(pattern, name); });
}

// Whether its verdict depends on what else runs: such cases run alone, when all others are done.
bool times(const CaseEntry &entry) {
    return entry.group() == "bandwidth";
}

class Planner {
public:
    Planner(const std::vector<CaseEntry> &cases, const MatrixOptions &options) : cases_(cases), options_(options) {
        for (const CaseEntry &entry : cases) by_name_[entry.name] = &entry;
    }

    void add(MutantRow &row) {
        const auto mutated = trial_of(*row.mutant, true), whole = trial_of(*row.mutant, false);
        if (!mutated || !whole) {
            row.unavailable = mutated ? whole.error() : mutated.error();
            return;
        }
        std::vector<std::string_view> killers = row.mutant->killers;
        std::erase_if(killers, [&](std::string_view killer) { return !matches(options_.cases, killer); });
        row.intended.resize(killers.size());
        row.base.resize(killers.size());
        for (size_t i = 0; i < killers.size(); ++i) {
            const auto entry = by_name_.find(killers[i]);
            row.intended[i].case_name = row.base[i].case_name = killers[i];
            if (entry == by_name_.end()) continue; // a disagreement, said elsewhere
            ask(*mutated, *entry->second, row.intended[i], row.mutant);
            ask(*whole, *entry->second, row.base[i], nullptr);
        }
        if (!options_.full) return;
        std::vector<const CaseEntry *> others;
        for (const CaseEntry &entry : cases_) {
            if (entry.hidden || !matches(options_.cases, entry.name) || entry.profile != "quick" || times(entry)) continue;
            // There the device has no fault; elsewhere the host has none.
            if (row.mutant->base == Base::guard && !entry.host_side) continue;
            if (row.mutant->base == Base::emulated && entry.host_side) continue;
            if (const auto &all = row.mutant->killers; std::find(all.begin(), all.end(), entry.name) == all.end())
                others.push_back(&entry);
        }
        row.others.resize(others.size());
        for (size_t i = 0; i < others.size(); ++i) {
            row.others[i].case_name = others[i]->name;
            ask(*mutated, *others[i], row.others[i], nullptr);
        }
    }
    std::vector<Job> jobs;

private:
    void ask(const Trial &trial, const CaseEntry &entry, Attempt &attempt, const Mutant *due) {
        const auto [at, fresh] = known_.emplace(trial.key() + '\n' + entry.name, jobs.size());
        if (fresh) jobs.push_back({trial, &entry, due, {}});
        jobs[at->second].for_whom.push_back(&attempt);
    }

    const std::vector<CaseEntry> &cases_;
    const MatrixOptions &options_;
    std::map<std::string_view, const CaseEntry *> by_name_;
    std::map<std::string, size_t> known_;
};

tl::expected<void, std::string> run_jobs(std::vector<Job *> &jobs, unsigned workers, size_t &done, size_t all,
                                         const MatrixOptions &options) {
    const auto waits = [](const Job *job) { return job->due && job->due->waits(); };
    const auto rest = std::stable_partition(jobs.begin(), jobs.end(), waits);
    return share_out(
        jobs.size(), workers, [&](size_t i) { return run_job(*jobs[i], options); },
        [&](size_t i, const std::string &line) {
            for (Attempt *const attempt : jobs[i]->for_whom) *attempt = attempt_from(jobs[i]->entry->name, line);
            ++done;
            if (options.progress) options.progress(fmt::format("{} of {} runs: {}", done, all, jobs[i]->entry->name));
        },
        options.interrupted, workers > 1 ? static_cast<size_t>(rest - jobs.begin()) : 0);
}

} // namespace

// A wrapper that refuses its own options has made no mutant: what a case then says is said of nothing.
bool Attempt::kills() const {
    const bool bad =
        status == Status::fail || status == Status::crash || status == Status::timeout || status == Status::device_lost;
    return bad && reason.find("option inject.") == std::string::npos;
}

std::string fault_wrong(const Mutant &mutant) {
    if (mutant.base == Base::emulated) {
        for (const std::string_view text : {mutant.fault, mutant.given})
            if (const auto faults = model::parse_faults(text); !faults) return faults.error().message;
        return {};
    }
    for (const std::string_view text : {mutant.fault, mutant.given}) {
        try {
            inject::make_faults(text);
        } catch (const sdk::Failure &failure) {
            return failure.message;
        }
    }
    return {};
}

bool MutantRow::killed() const {
    return unavailable.empty() && !intended.empty() &&
           std::all_of(intended.begin(), intended.end(), [&](const Attempt &attempt) { return as_due(attempt); });
}

bool MutantRow::as_due(const Attempt &attempt) const {
    return attempt.kills() && attempt.status == mutant->verdict && attempt.reason.find(mutant->says) != std::string::npos;
}

// Passed: a case that finds nothing to test on the whole thing could not find anything on the mutant either.
bool MutantRow::base_clean() const {
    return std::all_of(base.begin(), base.end(), [](const Attempt &attempt) {
        return attempt.status == Status::pass || attempt.status == Status::warn_quality ||
               attempt.status == Status::warn_capability;
    });
}

bool Matrix::good() const {
    return disagreements.empty() && !interrupted && std::all_of(rows.begin(), rows.end(), [](const MutantRow &row) {
               return !row.unavailable.empty() || (row.killed() && row.base_clean());
           });
}

bool Matrix::complete() const {
    return std::all_of(rows.begin(), rows.end(), [](const MutantRow &row) { return row.unavailable.empty(); });
}

tl::expected<Matrix, std::string> run_matrix(const MatrixOptions &options) {
    const auto start = std::chrono::steady_clock::now();
    const auto program = case_program();
    if (!program) return tl::unexpected(program.error());
    CaseProcess how;
    how.program = *program;
    const auto cases = list_cases(how);
    if (!cases) return tl::unexpected(cases.error());

    Matrix matrix;
    matrix.full = options.full;
    matrix.disagreements = disagreements(*cases, all_mutants());
    for (const Mutant &mutant : all_mutants()) {
        if (const std::string wrong = fault_wrong(mutant); !wrong.empty())
            matrix.disagreements.push_back(fmt::format("mutant {}: {}", mutant.name, wrong));
        const auto by_case = [&](std::string_view killer) { return matches(options.cases, killer); };
        if (matches(options.bases, base_of(mutant)) && matches(options.filter, mutant.name) &&
            std::any_of(mutant.killers.begin(), mutant.killers.end(), by_case))
            matrix.rows.push_back({&mutant, {}, {}, {}, {}});
    }
    if (matrix.rows.empty()) {
        std::vector<std::string> patterns = options.filter;
        patterns.insert(patterns.end(), options.cases.begin(), options.cases.end());
        patterns.insert(patterns.end(), options.bases.begin(), options.bases.end());
        return tl::unexpected(
            fmt::format("no mutant is called, made of, or must be found by, '{}': see 'hbf conformance mutants "
                        "--list'",
                        fmt::join(patterns, "', '")));
    }
    Planner planner(*cases, options);
    for (MutantRow &row : matrix.rows) planner.add(row);
    std::vector<Job *> together, alone;
    for (Job &job : planner.jobs) (times(*job.entry) ? alone : together).push_back(&job);
    const unsigned workers = options.jobs ? options.jobs : std::max(std::thread::hardware_concurrency(), 1u);
    for (const auto &[jobs, at_once] : {std::pair(&together, workers), std::pair(&alone, 1u)})
        if (const auto ran = run_jobs(*jobs, at_once, matrix.runs, planner.jobs.size(), options); !ran)
            return tl::unexpected(ran.error());
    matrix.interrupted = options.interrupted && options.interrupted() != 0;
    // Time that is up may be a busy machine's doing: nobody is named for that.
    for (MutantRow &row : matrix.rows)
        std::erase_if(row.others,
                      [](const Attempt &attempt) { return !attempt.kills() || attempt.status == Status::timeout; });
    matrix.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return matrix;
}

} // namespace hbf::conformance
