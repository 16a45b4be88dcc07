// SPDX-License-Identifier: Apache-2.0
#include "tools/doctor/look.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/host/parse.hpp"

namespace hbf::tools::doctor {
namespace {

using State = Reading::State;

constexpr size_t most_evidence = 32, longest_value = 160, most_texts = 4;

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    if (text.size() <= longest_value) return text;
    return text.substr(0, longest_value) + "...";
}

bool among(std::string_view word, std::initializer_list<std::string_view> known) {
    return std::find(known.begin(), known.end(), word) != known.end();
}

// What was said with this verdict, as one sentence.
std::string joined(const std::vector<std::pair<Verdict, std::string>> &said, Verdict verdict) {
    std::string out;
    size_t count = 0;
    for (const auto &[of, text] : said) {
        if (of != verdict) continue;
        if (++count <= most_texts) out += (out.empty() ? "" : "; ") + text;
    }
    if (count > most_texts) out += fmt::format("; and {} more", count - most_texts);
    return out;
}

} // namespace

void Look::seen(std::string path, std::string value) {
    for (const Seen &one : seen_)
        if (one.path == path) return;
    if (seen_.size() == most_evidence) {
        ++unseen_;
        return;
    }
    seen_.push_back({std::move(path), one_line(std::move(value))});
}

const Reading &Look::read(const std::string &path, Form form, Show show) {
    const Reading &got = machine_.read(path, form);
    if (std::find(files_.begin(), files_.end(), path) == files_.end()) files_.push_back(path);
    switch (got.state) {
    case State::value:
        if (show == Show::yes) seen(full(path), got.text);
        break;
    case State::absent:
        if (show == Show::yes) seen(full(path), "(not there)");
        break;
    default:
        seen(full(path), got.state == State::garbled ? "(no text)" : "(cannot be read)");
        needs_root_ |= got.refused;
        cannot_tell(got.error);
    }
    return got;
}

std::optional<std::string> Look::text(const std::string &path, Form form, Show show) {
    const Reading &got = read(path, form, show);
    return got.state == State::value ? std::optional(got.text) : std::nullopt;
}

std::optional<uint64_t> Look::number(const std::string &path, Show show) {
    const auto got = text(path, Form::text, show);
    if (!got) return std::nullopt;
    const auto value = host::parse_unsigned(*got);
    if (!value) garbled(path, "a number");
    return value;
}

std::optional<std::string> Look::word(const std::string &path, std::initializer_list<std::string_view> known) {
    const auto got = text(path);
    if (!got) return std::nullopt;
    std::string chosen = host::bracketed(*got);
    bool sound = among(chosen, known);
    for (std::string_view one : host::words(*got)) {
        if (one.starts_with('[') && one.ends_with(']')) one = one.substr(1, one.size() - 2);
        sound &= among(one, known);
    }
    if (sound) return chosen;
    garbled(path, fmt::format("one of {}", fmt::join(known, ", ")));
    return std::nullopt;
}

template <class T>
std::optional<T> Look::needed(const std::string &path, std::optional<T> got) {
    const Reading &reading = machine_.read(path);
    if (!got && reading.state == State::absent) cannot_tell(reading.error);
    return got;
}

std::optional<std::string> Look::need_text(const std::string &path, Form form, Show show) {
    return needed(path, text(path, form, show));
}
std::optional<uint64_t> Look::need_number(const std::string &path, Show show) {
    return needed(path, number(path, show));
}
std::optional<std::string> Look::need_word(const std::string &path, std::initializer_list<std::string_view> known) {
    return needed(path, word(path, known));
}

std::vector<std::string> Look::entries(const std::string &path) {
    const Names &got = machine_.entries(path);
    if (got.state == State::unreadable) {
        needs_root_ |= got.refused;
        cannot_tell(got.error);
    }
    return got.names;
}

std::vector<std::string> Look::need_entries(const std::string &path) {
    const Names &got = machine_.entries(path);
    if (got.state == State::absent) cannot_tell(got.error);
    return entries(path);
}

std::optional<std::string> Look::need_file(const std::string &path) {
    const Reading &got = machine_.read(path, Form::raw);
    if (std::find(files_.begin(), files_.end(), path) == files_.end()) files_.push_back(path);
    if (got.state == State::value) return full(path);
    needs_root_ |= got.refused;
    cannot_tell(got.error);
    return std::nullopt;
}

bool Look::exists(const std::string &path, Show show) {
    const bool there = machine_.exists(path);
    if (show == Show::yes) seen(full(path), there ? "(there)" : "(not there)");
    return there;
}

std::string Look::link_name(const std::string &path) {
    const std::string &target = machine_.link(path);
    return target.substr(target.rfind('/') + 1); // npos + 1 is 0
}

void Look::say(Verdict verdict, std::string text) {
    const std::pair<Verdict, std::string> one{verdict, std::move(text)};
    if (std::find(said_.begin(), said_.end(), one) == said_.end()) said_.push_back(one);
}

void Look::garbled(const std::string &path, std::string_view expected) {
    std::string found = machine_.read(path).text;
    if (found.size() > 40) found = found.substr(0, 40) + "...";
    cannot_tell(fmt::format("{}: expected {}, found \"{}\"", full(path), expected, one_line(found)));
}

void Look::fix(std::string command, std::string changes, bool lasts) {
    for (const Fix &one : fixes_)
        if (one.command == command) return;
    fixes_.push_back({std::move(command), std::move(changes), lasts});
}

void Look::fix_boot(const std::string &parameter, std::string changes) {
    fix(fmt::format("sed -i 's/^GRUB_CMDLINE_LINUX=\"/&{} /' /etc/default/grub && update-grub", parameter),
        fmt::format("{}; takes effect with the next boot", changes), true);
}

void Look::fix_sysctl(const std::string &name, const std::string &value, const std::string &changes) {
    fix(fmt::format("sysctl -w {}={}", name, value), changes);
    fix(fmt::format("echo '{} = {}' >> /etc/sysctl.d/90-hbf.conf", name, value), changes + ", from the next boot on", true);
}

Finding Look::finish(const Check &check) const {
    Finding out;
    out.id = check.id;
    out.title = check.title;
    out.why = check.why;
    out.remedy = check.remedy;
    out.evidence = seen_;
    if (unseen_ > 0) out.evidence.push_back({"...", fmt::format("and {} more", unseen_)});
    out.files = files_;
    if (said_.empty()) {
        out.found = "nothing was found that could be judged";
        return out; // cannot tell
    }
    out.verdict =
        std::max_element(said_.begin(), said_.end(), [](const auto &a, const auto &b) { return a.first < b.first; })->first;
    out.found = joined(said_, out.verdict);
    out.needs_root = needs_root_ && out.verdict == Verdict::cannot_tell;
    if (out.verdict > Verdict::cannot_tell) {
        const std::string doubts = joined(said_, Verdict::cannot_tell);
        if (!doubts.empty()) out.found += "; and cannot tell: " + doubts;
    }
    if (out.verdict >= Verdict::warn) out.fixes = fixes_;
    return out;
}

} // namespace hbf::tools::doctor
