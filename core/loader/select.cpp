// SPDX-License-Identifier: Apache-2.0
// The whole way from search folders to opened plugins, a step a function.
#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/common/environment.hpp"
#include "core/common/guarded.hpp"
#include "core/common/suggest.hpp"
#include "core/host/root.hpp"
#include "core/loader/cache.hpp"
#include "core/loader/decide.hpp"
#include "core/loader/examine.hpp"
#include "core/loader/install_paths.hpp"
#include "core/loader/open.hpp"
#include "core/loader/probe_key.hpp"
#include "core/loader/probe_process.hpp"
#include "core/loader/search.hpp"

namespace hbf {
namespace {

using namespace loader;

std::vector<Entry> find_entries(const SearchResult &found, std::vector<std::string> &notes) {
    std::vector<Entry> entries;
    std::set<std::pair<dev_t, ino_t>> named; // libraries that a manifest speaks for
    struct stat facts = {};
    for (const auto &manifest : found.manifests) {
        entries.push_back(entry_of_manifest(manifest, entries.size(), notes));
        if (stat(entries.back().candidate.plugin_file.c_str(), &facts) == 0) named.insert({facts.st_dev, facts.st_ino});
    }
    for (const auto &library : found.shared_objects) {
        // A broken manifest may not say which library is its own; the one of its name is not alone then.
        std::filesystem::path manifest = library;
        manifest.replace_extension(".plugin.toml");
        if (std::find(found.manifests.begin(), found.manifests.end(), manifest) != found.manifests.end()) continue;
        if (stat(library.c_str(), &facts) == 0 && named.contains({facts.st_dev, facts.st_ino})) continue;
        if (entries.size() < most_candidates) entries.push_back(entry_of_lone_library(library, entries.size()));
    }
    return entries;
}

std::vector<std::string> names_of(const std::vector<Entry> &entries) {
    std::set<std::string> names;
    for (const Entry &entry : entries) names.insert(entry.candidate.name);
    return {names.begin(), names.end()};
}

ProbeJob job_of(const Entry &entry, const Config &config, const SelectOptions &options, bool emulated) {
    ProbeJob job;
    job.request.plugin_file = entry.real.string();
    job.request.name = entry.candidate.name;
    job.request.root = options.root.string();
    job.request.identity = entry.identity;
    job.request.emulation = entry.manifest->emulation || emulated;
    job.request.options = config.plugin_options(entry.candidate.name);
    job.request.parent = getpid();
    job.environment = probe_environment(*entry.manifest);
    return job;
}

void take_record(Entry &entry, const ProbeRecord &record, std::vector<std::string> &notes) {
    Candidate &candidate = entry.candidate;
    for (const std::string &note : record.notes) notes.push_back(fmt::format("plugin {}: {}", candidate.name, note));
    if (!record.version.empty() && record.version != candidate.version) {
        notes.push_back(fmt::format("plugin {}: the manifest says version {}, the library {}", candidate.name,
                                    candidate.version, record.version));
        candidate.version = record.version;
    }
    if (record.reason != Reason::selected) return entry.refuse({record.reason, record.detail});
    if (record.devices.empty()) return entry.refuse({Reason::probe_failed, "its probe's answer names no device"});
    candidate.devices = record.devices;
    rank_devices(candidate.devices);
    const ProbedDevice &best = candidate.devices.front();
    entry.rank.emulated = best.emulated;
    entry.rank.on_cpu = best.on_cpu;
    entry.rank.version = candidate.version;
}

// Whoever could change the probe program could change what is loaded.
Result<> check_probe_program(const Yardstick &yardstick) {
    const auto &program = install_paths().probe;
    if (program.empty()) {
        return fail(
            Code::internal,
            fmt::format("hbf-probe, which looks at plugins, is not where it belongs beside {}; remedy: install hbf again",
                        install_paths().self.string()));
    }
    const auto walk = walk_to(program);
    if (!walk) return tl::unexpected(walk.error());
    if (const auto objection = first_objection(*walk, &yardstick))
        return fail(Code::permission, "hbf-probe is not run: " + *objection);
    return {};
}

ProbeLimits limits_of(const Config &config, const SelectOptions &options) {
    ProbeLimits limits;
    double seconds = 0;
    const std::string &text = config.get("plugins.probe_timeout_s").value;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    if (error == std::errc{} && seconds > 0) limits.time = std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
    limits.cancelled = options.cancelled;
    return limits;
}

Result<> probe_all(std::vector<Entry> &entries, const Config &config, const SelectOptions &options,
                   const Yardstick &yardstick, Selection &selection) {
    const bool emulated = !host::emulated_machine(options.root).empty(); // gone with the command: nothing to remember
    const ProbeCache cache = options.use_cache && !emulated ? ProbeCache::open(selection.notes) : ProbeCache::off();
    const std::string machine = machine_key(selection.inventory);
    std::vector<Entry *> waiting;
    for (Entry &entry : entries) {
        if (!entry.viable) continue;
        entry.job = job_of(entry, config, options, emulated);
        entry.key = machine + plugin_key(*entry.manifest, entry.job, entry.candidate.sha256, options.root);
        if (const auto record = cache.find(entry.key)) {
            entry.candidate.probe_cached = true;
            take_record(entry, *record, selection.notes);
        } else {
            waiting.push_back(&entry);
        }
    }
    if (waiting.empty()) return {};
    if (auto checked = check_probe_program(yardstick); !checked) return checked;
    std::vector<ProbeJob> jobs;
    for (const Entry *entry : waiting) jobs.push_back(entry->job);
    const auto outcomes = run_probes(install_paths().probe, jobs, limits_of(config, options));
    if (!outcomes) return tl::unexpected(outcomes.error());
    for (size_t i = 0; i < waiting.size(); ++i) {
        const ProbeOutcome &outcome = (*outcomes)[i];
        waiting[i]->candidate.probe_ms = outcome.milliseconds;
        if (outcome.answered) cache.store(waiting[i]->key, outcome.record);
        take_record(*waiting[i], outcome.record, selection.notes);
    }
    return {};
}

// True if one could not be opened: then who serves has to be decided anew.
bool open_selected(std::vector<Entry> &entries) {
    bool failed = false;
    for (Entry &entry : entries) {
        if (!entry.viable || entry.candidate.reason != Reason::selected || entry.candidate.plugin) continue;
        entry.enter(Stage::open);
        const auto table = open_plugin(entry.real, entry.identity, entry.candidate.name);
        if (table) {
            entry.candidate.plugin = *table;
        } else {
            entry.refuse(table.error());
            failed = true;
        }
    }
    return failed;
}

} // namespace

const Candidate *Selection::primary() const {
    return candidates.empty() || candidates.front().reason != Reason::selected ? nullptr : &candidates.front();
}

namespace {

Result<Selection> select(const Config &config, const SelectOptions &asked) {
    Selection selection;
    SelectOptions options = asked;
    options.root = host::machine_root(asked.root);
    auto inventory = read_inventory(options.root);
    if (!inventory) return tl::unexpected(inventory.error());
    selection.inventory = std::move(*inventory);
    selection.notes = config.notes();
    if (const std::string name = host::emulated_machine(options.root); !name.empty())
        selection.notes.push_back(fmt::format("this machine is emulated ({}): everything found on it is", name));

    const auto folders = search_folders(config);
    if (!folders) return tl::unexpected(folders.error());
    const auto found = search(*folders);
    if (!found) return tl::unexpected(found.error());
    selection.notes.insert(selection.notes.end(), found->notes.begin(), found->notes.end());

    std::vector<Entry> entries = find_entries(*found, selection.notes);
    const bool wants_untrusted = config.get("plugins.allow_untrusted").value == "true";
    if (wants_untrusted && process_is_privileged())
        selection.notes.emplace_back("plugins.allow_untrusted ignored: this process is privileged");
    ExamineContext context{selection.inventory, Policy::from(config),
                           Yardstick::of({install_paths().program, install_paths().self}),
                           wants_untrusted && !process_is_privileged(), selection.notes};
    const Policy &policy = context.policy;
    if (auto names = policy.check_names(names_of(entries)); !names) return tl::unexpected(names.error());
    // Not an error, as with a list of plugins: a file shared by many machines may set options of plugins that only some
    // have.
    const auto known = names_of(entries);
    for (const std::string &name : config.plugins_with_options()) {
        if (std::find(known.begin(), known.end(), name) != known.end()) continue;
        selection.notes.push_back(fmt::format("options are set for \"{}\", but no plugin of that name was found{}", name,
                                              did_you_mean(name, known)));
    }
    for (Entry &entry : entries) {
        Candidate &candidate = entry.candidate;
        entry.rank.pin_index = policy.pin_index(candidate.name);
        entry.rank.allow_index = policy.allow_index(candidate.name);
        entry.rank.priority = candidate.priority;
        entry.rank.name = candidate.name;
        candidate.pinned = entry.rank.pin_index < policy.pin.names.size();
        examine(entry, context);
    }
    if (auto probed = probe_all(entries, config, options, context.yardstick, selection); !probed)
        return tl::unexpected(probed.error());
    do decide(entries);
    while (options.open && open_selected(entries));
    if (auto met = check_pins(entries, policy.pin); !met) return tl::unexpected(met.error());
    for (Entry &entry : entries) selection.candidates.push_back(std::move(entry.candidate));
    return selection;
}

} // namespace

Result<Selection> select_plugins(const Config &config, const SelectOptions &options) {
    return guarded([&] { return select(config, options); });
}

Result<> mark_create_failed(Selection &selection, std::string_view plugin, const Error &cause) {
    auto &all = selection.candidates;
    const auto at = std::find_if(all.begin(), all.end(),
                                 [&](const Candidate &c) { return c.name == plugin && c.reason == Reason::selected; });
    if (at == all.end()) return fail(Code::invalid, fmt::format("no selected plugin is called \"{}\"", plugin));
    at->stage = Stage::open;
    at->reason = Reason::create_failed;
    at->detail = fmt::format("{}: {}", to_string(cause.code), cause.message);
    const bool pinned = at->pinned;
    const auto behind = std::find_if(at + 1, all.end(), [](const Candidate &c) { return c.reason != Reason::selected; });
    std::rotate(at, at + 1, behind); // the selected ones stand first
    if (pinned)
        return fail(cause.code,
                    fmt::format("the pinned plugin \"{}\" cannot serve: create_failed: {}", plugin, cause.message));
    return {};
}

} // namespace hbf
