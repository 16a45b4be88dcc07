// SPDX-License-Identifier: Apache-2.0
#include "conformance/runner/case_arguments.hpp"

#include <charconv>
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "conformance/runner/profile.hpp"
#include "core/common/suggest.hpp"

namespace hbf::conformance {
namespace {

std::optional<uint64_t> number(std::string_view text) {
    const bool hex = text.starts_with("0x");
    if (hex) text.remove_prefix(2);
    uint64_t out = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out, hex ? 16 : 10);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return out;
}

// "cancel,crc", or all
std::optional<uint32_t> mask_from(std::string_view text) {
    if (text == "all") return need::maskable;
    uint32_t out = 0;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(','));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        uint32_t found = 0;
        for (uint32_t bit = 1; bit; bit <<= 1)
            if ((need::maskable & bit) && need_name(bit) == word) found = bit;
        if (!found) return std::nullopt;
        out |= found;
    }
    return out;
}

std::string mask_text(uint32_t mask) {
    std::string out;
    for (const char c : need_names(mask))
        if (c != ' ') out += c;
    return out;
}

} // namespace

const char case_usage[] =
    "Usage: hbf-case --plugin FILE --case NAME [OPTIONS]   run one case in this process\n"
    "       hbf-case --list | --names                      the cases, as JSON or a name a line\n"
    "       hbf-case --describe --plugin FILE [OPTIONS]    what the plugin and its device declare, as JSON\n"
    "\n"
    "  --option KEY=VALUE  for the plugin; repeatable\n"
    "  --device ID         the device to open (default: the first one)\n"
    "  --seed N            the case's own seed (default 1)\n"
    "  --profile NAME      quick, full or soak (default quick)\n"
    "  --mask NAME,...     capabilities to hide from the case, or 'all'\n"
    "  --peer FILE         plugin of a second device, for cases between two; --peer-device, --peer-option as above\n"
    "\n"
    "Exit status: 0 pass, 1 fail, 2 wrong command line, 3 no decision, 77 not supported or not observable.\n"
    "'hbf conformance' runs all cases, each in such a process, and judges them.\n";

tl::expected<CaseArguments, std::string> parse_case_arguments(const std::vector<std::string> &words) {
    CaseArguments out;
    const std::vector<std::string> known = {"--plugin", "--case",     "--option",  "--device",      "--seed",
                                            "--mask",   "--list",     "--profile", "--names",       "--record-fd",
                                            "--parent", "--describe", "--peer",    "--peer-device", "--peer-option"};
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string &word = words[i];
        if (word == "--list" || word == "--names" || word == "--describe" || word == "--help" || word == "-h") {
            out.mode = word == "--list"       ? CaseArguments::list
                       : word == "--names"    ? CaseArguments::names
                       : word == "--describe" ? CaseArguments::describe
                                              : CaseArguments::help;
            continue;
        }
        if (std::find(known.begin(), known.end(), word) == known.end())
            return tl::unexpected(fmt::format("unknown option '{}'{}", word, did_you_mean(word, known)));
        if (i + 1 == words.size()) return tl::unexpected(fmt::format("{} needs a value", word));
        const std::string &value = words[++i];
        const auto refused = [&](std::string_view what) {
            return tl::unexpected(fmt::format("{}: '{}' is no {}", word, value, what));
        };
        if (word == "--plugin" || word == "--peer") {
            std::error_code error;
            auto &file = word == "--peer" ? out.subject.peer.plugin_file : out.subject.plugin_file;
            file = std::filesystem::absolute(value, error).string();
        } else if (word == "--case") {
            out.name = value;
        } else if (word == "--device") {
            out.subject.device_id = value;
        } else if (word == "--peer-device") {
            out.subject.peer.device_id = value;
        } else if (word == "--option" || word == "--peer-option") {
            const size_t at = value.find('=');
            if (at == 0 || at == std::string::npos) return refused("KEY=VALUE");
            auto &options = word == "--option" ? out.subject.options : out.subject.peer.options;
            options.emplace_back(value.substr(0, at), value.substr(at + 1));
        } else if (word == "--profile") {
            const auto profile = profile_from(value);
            if (!profile) return refused("profile; one of: quick, full, soak");
            out.profile = *profile;
        } else if (word == "--mask") {
            const auto mask = mask_from(value);
            if (!mask) return refused("list of capabilities; there are: " + need_names(need::maskable));
            out.subject.mask = *mask;
        } else {
            const auto parsed = number(value);
            if (!parsed) return refused("whole number");
            if (word == "--seed") out.seed = *parsed;
            if (word == "--record-fd") out.record_fd = static_cast<int>(*parsed);
            if (word == "--parent") out.parent = static_cast<int64_t>(*parsed);
        }
    }
    if (out.mode == CaseArguments::run && out.name.empty()) return tl::unexpected(std::string("--case is needed"));
    if ((out.mode == CaseArguments::run || out.mode == CaseArguments::describe) && out.subject.plugin_file.empty())
        return tl::unexpected(std::string("--plugin is needed"));
    return out;
}

std::vector<std::string> words_of(const CaseArguments &arguments) {
    std::vector<std::string> out = {"--plugin", arguments.subject.plugin_file};
    const auto add = [&](const char *name, const std::string &value) {
        out.emplace_back(name);
        out.push_back(value);
    };
    if (arguments.mode == CaseArguments::list) return {"--list"};
    if (arguments.mode == CaseArguments::describe)
        out.emplace_back("--describe");
    else
        add("--case", arguments.name);
    if (!arguments.subject.device_id.empty()) add("--device", arguments.subject.device_id);
    for (const auto &[key, value] : arguments.subject.options) add("--option", key + "=" + value);
    const PeerOptions &peer = arguments.subject.peer;
    if (!peer.plugin_file.empty()) add("--peer", peer.plugin_file);
    if (!peer.device_id.empty()) add("--peer-device", peer.device_id);
    for (const auto &[key, value] : peer.options) add("--peer-option", key + "=" + value);
    add("--seed", fmt::format("{:#x}", arguments.seed));
    add("--profile", std::string(to_string(arguments.profile)));
    if (arguments.subject.mask) add("--mask", mask_text(arguments.subject.mask));
    if (arguments.record_fd >= 0) add("--record-fd", std::to_string(arguments.record_fd));
    if (arguments.parent) add("--parent", std::to_string(arguments.parent));
    return out;
}

} // namespace hbf::conformance
