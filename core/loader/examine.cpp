// SPDX-License-Identifier: Apache-2.0
#include "core/loader/examine.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/loader/bind.hpp"
#include "core/loader/elf.hpp"
#include "core/loader/install_paths.hpp"
#include "core/loader/needs.hpp"
#include "core/loader/run_path.hpp"
#include "core/loader/search.hpp"
#include "core/loader/sha256.hpp"
#include "core/loader/text.hpp"

namespace hbf::loader {
namespace {

#if defined(__x86_64__)
constexpr std::string_view host_arch = "x86_64";
#else
constexpr std::string_view host_arch = "aarch64";
#endif

constexpr size_t longest_detail = 2048; // paths in it may have any bytes

std::optional<Refusal> check_manifest(const Manifest &manifest) {
    const std::string range = manifest.abi_min == manifest.abi_max
                                  ? abi_text(manifest.abi_min)
                                  : abi_text(manifest.abi_min) + " to " + abi_text(manifest.abi_max);
    if (manifest.abi_min > host_abi_max) {
        return Refusal{Reason::abi_too_new,
                       fmt::format("its manifest asks for ABI {}, this host serves {} to {}; remedy: a newer libhbf, "
                                   "or an older build of it",
                                   range, abi_text(host_abi_min), abi_text(host_abi_max))};
    }
    if (manifest.abi_max < host_abi_min) {
        return Refusal{Reason::abi_too_old,
                       fmt::format("its manifest offers ABI {}, this host serves {} to {}; remedy: a newer build of it",
                                   range, abi_text(host_abi_min), abi_text(host_abi_max))};
    }
    if (!manifest.arch.empty() && std::find(manifest.arch.begin(), manifest.arch.end(), host_arch) == manifest.arch.end()) {
        return Refusal{Reason::wrong_arch,
                       fmt::format("its manifest says it is for {}, this process is {}: install the {} build of it",
                                   fmt::join(manifest.arch, ", "), host_arch, host_arch)};
    }
    return std::nullopt;
}

// Under allow_untrusted an objection becomes a warning, each time.
std::optional<Refusal> weigh(const std::optional<std::string> &objection, const std::string &name,
                             const ExamineContext &context) {
    if (!objection) return std::nullopt;
    if (context.allow_untrusted) {
        std::string note = fmt::format("plugin {} is used although others could change it (plugins.allow_untrusted): {}",
                                       name, printable(*objection, longest_detail));
        if (std::find(context.notes.begin(), context.notes.end(), note) == context.notes.end())
            context.notes.push_back(std::move(note)); // once for manifest and library of one folder
        return std::nullopt;
    }
    return Refusal{Reason::untrusted_path, *objection};
}

const Yardstick *yardstick_for(const std::filesystem::path &real, const ExamineContext &context) {
    return is_own_plugin(real) ? &context.yardstick : nullptr;
}

std::optional<Refusal> judge(const Walk &walk, const std::string &name, const ExamineContext &context) {
    return weigh(first_objection(walk, yardstick_for(walk.real, context)), name, context);
}

Refusal refusal_of_walk(const Error &error) {
    if (error.code == Code::permission)
        return {Reason::permission_denied, error.message + "; remedy: let this user read it"};
    if (error.code == Code::unavailable) {
        return {Reason::manifest_invalid, "its library cannot be found: " + error.message +
                                              "; remedy: correct \"library\" in the manifest, or install it"};
    }
    return {Reason::not_a_plugin, error.message};
}

// Trust, then what its bytes say. On success the file's hash and identity are known.
std::optional<Refusal> check_library(Entry &entry, const ExamineContext &context) {
    const std::string &name = entry.candidate.name;
    entry.enter(Stage::trust);
    const auto manifest_walk = walk_to(entry.candidate.manifest);
    if (!manifest_walk) return Refusal{Reason::manifest_invalid, manifest_walk.error().message};
    if (auto refusal = judge(*manifest_walk, name, context)) return refusal;
    const auto walk = walk_to(entry.candidate.plugin_file);
    if (!walk) return refusal_of_walk(walk.error());
    if (auto refusal = judge(*walk, name, context)) return refusal;
    entry.real = walk->real;
    entry.identity = walk->identity;

    entry.enter(Stage::static_check);
    const ElfFacts facts = examine_elf(FileBytes(walk->file.get(), walk->identity.size), HBF_PLUGIN_QUERY_SYMBOL);
    if (facts.refused) return facts.refused;
    const auto objection = run_path_objection(facts, entry.real, yardstick_for(entry.real, context));
    if (auto refusal = weigh(objection, name, context)) return refusal;
    if (facts.sanitizer != HBF_SANITIZER_NONE && facts.sanitizer != host_sanitizer()) {
        return Refusal{Reason::sanitizer_mismatch,
                       fmt::format("it was built with {}, this host with {}; remedy: build both alike",
                                   sanitizer_name(facts.sanitizer), sanitizer_name(host_sanitizer()))};
    }

    entry.enter(Stage::probe);
    if (auto refusal = unmet_need(*entry.manifest, context.inventory)) return refusal;
    auto hash = sha256_file(walk->file.get(), entry.real.string());
    if (!hash) return Refusal{Reason::not_a_plugin, hash.error().message};
    entry.candidate.sha256 = std::move(*hash);
    return std::nullopt;
}

std::string stem_of(const std::filesystem::path &file, std::string_view suffix) {
    std::string name = file.filename().string();
    name.resize(name.size() - suffix.size());
    return printable(name, 64);
}

} // namespace

void Entry::refuse(Refusal refusal) {
    viable = false;
    candidate.reason = refusal.reason;
    refusal.detail = printable(refusal.detail, longest_detail);
    candidate.detail = std::move(refusal.detail);
}

Entry entry_of_manifest(const std::filesystem::path &manifest, size_t found_index, std::vector<std::string> &notes) {
    Entry entry;
    entry.candidate.manifest = manifest;
    entry.candidate.name = stem_of(manifest, ".plugin.toml");
    entry.rank.found_index = found_index;
    entry.enter(Stage::manifest);
    auto read = read_manifest(manifest);
    if (!read) {
        const bool denied = read.error().code == Code::permission;
        entry.refuse({denied ? Reason::permission_denied : Reason::manifest_invalid,
                      read.error().message + (denied ? "; remedy: let this user read it" : "")});
        return entry;
    }
    notes.insert(notes.end(), read->warnings.begin(), read->warnings.end());
    Candidate &candidate = entry.candidate;
    candidate.name = read->name;
    candidate.vendor = read->vendor;
    candidate.version = read->version;
    candidate.kind = read->emulation ? "emulation" : "device";
    candidate.priority = read->priority;
    candidate.plugin_file = manifest.parent_path() / read->plugin_file;
    entry.manifest = std::move(*read);
    return entry;
}

Entry entry_of_lone_library(const std::filesystem::path &library, size_t found_index) {
    Entry entry;
    entry.candidate.plugin_file = library;
    entry.candidate.name = stem_of(library, ".so");
    entry.rank.found_index = found_index;
    entry.enter(Stage::manifest);
    entry.refuse({Reason::manifest_invalid,
                  fmt::format("no manifest beside it; remedy: put NAME.plugin.toml there with library = \"{}\", or take the "
                              "file away if it is no plugin",
                              printable(library.filename().string(), 80))});
    return entry;
}

void examine(Entry &entry, const ExamineContext &context) {
    if (!entry.viable) return;
    Candidate &candidate = entry.candidate;
    if (auto refusal = check_manifest(*entry.manifest)) return entry.refuse(std::move(*refusal));
    entry.enter(Stage::policy);
    if (auto refusal = context.policy.objection(candidate.name)) return entry.refuse(std::move(*refusal));
    if (auto refusal = check_library(entry, context)) return entry.refuse(std::move(*refusal));
}

} // namespace hbf::loader
