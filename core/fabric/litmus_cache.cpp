// SPDX-License-Identifier: Apache-2.0
#include "core/fabric/litmus_cache.hpp"

#include <array>
#include <filesystem>
#include <map>
#include <mutex>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/common/environment.hpp"
#include "core/common/ownership.hpp"
#include "core/common/read_file.hpp"

namespace hbf::fabric {
namespace {

constexpr size_t largest_file = 64 * 1024;

struct Known {
    std::mutex mutex;
    std::map<std::string, LitmusReport> reports;
};
Known &known() {
    static auto *all = new Known;
    return *all;
}

// A line: key|subject, observed, trials, milliseconds, separated by tabs.
std::string line_of(const std::string &key, const LitmusReport &report) {
    return fmt::format("{}\t{}\t{}\t{}\t{:.3f}\n", key, report.domain, report.observed, report.trials, report.milliseconds);
}

std::optional<LitmusReport> parse(const std::string &line, const std::string &key) {
    std::array<std::string, 5> field;
    std::istringstream stream(line);
    for (std::string &one : field)
        if (!std::getline(stream, one, '\t')) return std::nullopt;
    if (field[0] != key || (field[2] != "hardware" && field[2] != "software")) return std::nullopt;
    LitmusReport report;
    report.domain = field[1];
    report.observed = field[2];
    std::istringstream trials(field[3]), milliseconds(field[4]);
    if (!(trials >> report.trials) || !(milliseconds >> report.milliseconds) || report.trials == 0) return std::nullopt;
    report.cached = true;
    return report;
}

std::optional<std::filesystem::path> cache_file() {
    std::filesystem::path base;
    if (const auto cache = environment("XDG_CACHE_HOME"); cache && !cache->empty())
        base = *cache;
    else if (const auto home = environment("HOME"); home && !home->empty())
        base = std::filesystem::path(*home) / ".cache";
    if (!base.is_absolute()) return std::nullopt;
    return base / "hbf" / "litmus";
}

// Nobody else may be able to vouch for a device's coherence: a file others can write counts as absent.
std::string content(const std::filesystem::path &path) {
    struct stat facts;
    const auto text = read_file(path, largest_file, &facts);
    if (!text || !changeable_by_others(facts, geteuid()).empty()) return {};
    return *text;
}

void replace(const std::filesystem::path &path, const std::string &text) {
    std::error_code ignored;
    std::filesystem::create_directories(path.parent_path(), ignored);
    const std::filesystem::path fresh = path.string() + fmt::format(".{}", getpid());
    const int file = open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return;
    const bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
    // Renamed over the old one: a reader sees one or the other, whole.
    if (close(file) != 0 || !whole || rename(fresh.c_str(), path.c_str()) != 0) unlink(fresh.c_str());
}

} // namespace

LitmusCache::LitmusCache(const LitmusKey &key, const hbf_plugin *plugin) {
    on_disk_ = !key.plugin_sha256.empty() && !key.boot_id.empty();
    key_ = fmt::format("{}|{}|{}", key.plugin_sha256, key.driver, key.boot_id);
    if (!on_disk_) key_ += fmt::format("|{}", static_cast<const void *>(plugin));
    for (char &letter : key_)
        if (letter == '\t' || letter == '\n') letter = ' ';
}

std::optional<LitmusReport> LitmusCache::find(const std::string &subject) const {
    const std::string key = key_ + "|" + subject;
    {
        std::lock_guard lock(known().mutex);
        if (const auto found = known().reports.find(key); found != known().reports.end()) return found->second;
    }
    const auto path = on_disk_ ? cache_file() : std::nullopt;
    if (!path) return std::nullopt;
    std::istringstream lines(content(*path));
    for (std::string line; std::getline(lines, line);)
        if (auto report = parse(line, key)) return report;
    return std::nullopt;
}

void LitmusCache::keep(const std::string &subject, const LitmusReport &report) const noexcept {
    try {
        const std::string key = key_ + "|" + subject;
        LitmusReport kept = report;
        kept.cached = true;
        {
            std::lock_guard lock(known().mutex);
            known().reports[key] = kept;
        }
        const auto path = on_disk_ ? cache_file() : std::nullopt;
        if (!path) return;
        // The newest first, so that what a full file loses is the oldest.
        std::string text = line_of(key, report);
        std::istringstream lines(content(*path));
        for (std::string line; std::getline(lines, line);)
            if (line.rfind(key + "\t", 0) != 0 && text.size() + line.size() < largest_file / 2) text += line + "\n";
        replace(*path, text);
    } catch (...) { // no memory or no disk: it is run again next time
    }
}

} // namespace hbf::fabric
