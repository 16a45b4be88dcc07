// SPDX-License-Identifier: Apache-2.0
// kv-campaign: random work on a KV cache over a device with random faults, for as long as one likes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include "conformance/engine/campaign.hpp"
#include "core/output/size.hpp"

using namespace hbf;

namespace {

constexpr const char *usage =
    "Usage: kv-campaign [--seconds N] [--seed N] [--rounds N] [--steps N] [--fault SPEC] [--wrapper FILE] [--plugin FILE]\n"
    "A KV cache over the host plugin with a fault put on it: sequences grow, fork, are cut, move and are read. Every "
    "answer\n"
    "is compared with what it has to be; an error is an answer, a wrong number is not. Each round has a seed and a fault;\n"
    "the first wrong answer ends the run with exit code 1, and with the command that repeats its round.\n"
    "  --seconds N   how long (default: 10); --rounds N: how many rounds instead\n"
    "  --seed N      of the first round; the next has the next number (default: 1)\n"
    "  --fault SPEC  this fault in every round (default: one is drawn); 'none': without\n"
    "  --steps N     operations a round (default: 150)\n"
    "  --list        the faults that are drawn from\n";

int mistake(const std::string &why) {
    std::fprintf(stderr, "kv-campaign: %s\n%s", why.c_str(), usage);
    return 2;
}

struct Told {
    uint64_t rounds = 0, answers = 0, errors = 0, damaged = 0, no_device = 0;
};

} // namespace

int main(int argc, char **argv) {
    std::map<std::string, uint64_t> numbers = {{"--seconds", 10}, {"--seed", 1}, {"--rounds", 0}, {"--steps", 150}};
    std::map<std::string, std::string> texts = {
        {"--fault", ""}, {"--wrapper", HBF_CAMPAIGN_WRAPPER}, {"--plugin", HBF_CAMPAIGN_PLUGIN}};
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--help") return std::fputs(usage, stdout), 0;
        if (word == "--list") {
            for (const auto &fault : campaign::faults()) std::puts(fault.c_str());
            return 0;
        }
        if (i + 1 == argc || (!numbers.contains(word) && !texts.contains(word)))
            return mistake(fmt::format("unknown argument, or no value: '{}'", word));
        const std::string value = argv[++i];
        if (texts.contains(word)) {
            texts[word] = value;
            continue;
        }
        const auto number = parse_number(value);
        if (!number) return mistake(fmt::format("{} '{}': must be a number", word, value));
        numbers[word] = *number;
    }

    char folder[] = "/tmp/kv-campaign-XXXXXX";
    if (!::mkdtemp(folder)) return std::perror("kv-campaign: /tmp"), 3;
    std::map<std::string, Told> by_fault;
    Told all;
    std::string wrong;
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
    for (uint64_t i = 0; wrong.empty(); ++i) {
        if (numbers["--rounds"] ? i >= numbers["--rounds"] : passed() >= static_cast<double>(numbers["--seconds"])) break;
        const std::string &fault = texts["--fault"];
        const auto round = campaign::run_round({texts["--wrapper"], texts["--plugin"], folder}, numbers["--seed"] + i,
                                               fault == "none" ? ";" : fault, static_cast<unsigned>(numbers["--steps"]));
        for (Told *told : {&all, &by_fault[round.fault]}) {
            ++told->rounds;
            told->answers += round.answers;
            told->errors += round.errors;
            told->damaged += round.damaged;
            told->no_device += round.no_device.empty() ? 0 : 1;
        }
        if (!round.no_device.empty() && all.no_device == all.rounds) wrong = "no cache: " + round.no_device;
        if (!round.wrong.empty())
            wrong = fmt::format("WRONG ANSWER, seed {}, fault {}: {}\n  again: kv-campaign --seed {} --rounds 1 --steps {} "
                                "--fault '{}'",
                                round.seed, round.fault, round.wrong, round.seed, numbers["--steps"], round.fault);
    }
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    for (const auto &[fault, told] : by_fault)
        std::printf("%-48s %5lu rounds %7lu right %6lu errors said %6lu copies found wrong%s\n", fault.c_str(), told.rounds,
                    told.answers, told.errors, told.damaged,
                    told.no_device ? fmt::format(", {} without a cache", told.no_device).c_str() : "");
    std::printf("%lu rounds in %.0f s, seeds from %lu: %lu answers right, %s\n", all.rounds, passed(), numbers["--seed"],
                all.answers, wrong.empty() ? "0 wrong" : wrong.c_str());
    if (!wrong.empty()) return wrong.starts_with("WRONG") ? 1 : 3;
    return all.answers > 0 ? 0 : 3;
}
