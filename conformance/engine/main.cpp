// SPDX-License-Identifier: Apache-2.0
// kv-campaign: random work on a KV cache over a device with random faults, for as long as one likes.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <fmt/format.h>
#include <unistd.h>

#include "conformance/engine/campaign.hpp"
#include "core/output/size.hpp"

using namespace hbf;
using campaign::Round;

namespace {

constexpr const char *usage =
    "Usage: kv-campaign [--seconds N | --rounds N | --each] [--seed N] [--steps N] [--fault SPEC] [--seeds FILE]\n"
    "                   [--wrapper FILE] [--plugin FILE]\n"
    "A KV cache over a plugin with a fault put on it: sequences grow, fork, are cut, move and are read. Every answer is\n"
    "compared with what it has to be; an error is an answer, a wrong number is not. Each round has a seed, a fault and a\n"
    "process of its own; the first wrong answer ends the run, with the command that repeats its round.\n"
    "  --seconds N   how long (default: 10); --rounds N: how many rounds instead\n"
    "  --each        a round with each fault that the wrapper has, and all that is wrong is told at the end\n"
    "  --seed N      of the first round; the next has the next number (default: 1)\n"
    "  --fault SPEC  this fault in every round (default: one is drawn); 'none': without\n"
    "  --steps N     operations a round (default: 150)\n"
    "  --verify-reads 1  with what is read in place held against its checksums, as --each does\n"
    "  --patience N  seconds after which a round is taken to hang (default: 300)\n"
    "  --seeds FILE  a line of each round is added to this file: seed, steps, outcome, answers, errors, fault\n"
    "  --plugin FILE the plugin to work on (default: the host's); in 'hbf emulate' also one of a vendor's\n"
    "  --list        the faults that are drawn from\n"
    "Exit codes: 0 all right, 1 a wrong answer or a process that ended, 2 usage, 3 nothing could be asked.\n";

int mistake(const std::string &why) {
    std::fprintf(stderr, "kv-campaign: %s\n%s", why.c_str(), usage);
    return 2;
}

struct Told {
    uint64_t rounds = 0, answers = 0, errors = 0, damaged = 0, no_cache = 0, ended = 0, bad = 0;
};

// "": as it should be.
std::string verdict(const Round &round) {
    if (!round.wrong.empty()) return "WRONG ANSWER: " + round.wrong;
    const auto end = round.fault.find_first_of(",;");
    if (round.ended.empty() || campaign::may_end_process(round.fault.substr(0, end))) return "";
    return "its process ended: " + round.ended;
}

std::string line_of(const Round &round, unsigned steps, const std::string &bad) {
    const char *const outcome = !bad.empty()              ? "BAD"
                                : !round.ended.empty()    ? "ended"
                                : !round.no_cache.empty() ? "none"
                                                          : "right";
    return fmt::format("{} {} {} {} {} {}\n", round.seed, steps, outcome, round.answers, round.errors, round.fault);
}

std::string repeated_by(const Round &round, unsigned steps, const std::string &plugin) {
    return fmt::format("again: kv-campaign --seed {} --rounds 1 --steps {} --fault '{}'{}{}", round.seed, steps, round.fault,
                       round.verifies ? " --verify-reads 1" : "",
                       plugin == HBF_CAMPAIGN_PLUGIN ? "" : " --plugin " + plugin);
}

} // namespace

int main(int argc, char **argv) {
    std::map<std::string, uint64_t> numbers = {{"--seconds", 10}, {"--seed", 1},       {"--rounds", 0},
                                               {"--steps", 150},  {"--patience", 300}, {"--verify-reads", 0}};
    std::map<std::string, std::string> texts = {
        {"--fault", ""}, {"--seeds", ""}, {"--wrapper", HBF_CAMPAIGN_WRAPPER}, {"--plugin", HBF_CAMPAIGN_PLUGIN}};
    bool each = false;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--help") return std::fputs(usage, stdout), 0;
        if (word == "--list") {
            for (const auto &fault : campaign::drawn_faults()) std::puts(fault.c_str());
            return 0;
        }
        if (word == "--each") {
            each = true;
            continue;
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
    for (const char *const file : {"--plugin", "--wrapper"}) // the wrapper takes no other than absolute paths
        texts[file] = std::filesystem::absolute(texts[file]).string();
    std::ofstream seeds;
    if (!texts["--seeds"].empty()) {
        seeds.open(texts["--seeds"], std::ios::app);
        if (!seeds) return mistake(fmt::format("--seeds {}: cannot be written", texts["--seeds"]));
    }
    const auto faults = each ? campaign::all_faults() : std::vector<std::string>{};
    const uint64_t most = each ? faults.size() : numbers["--rounds"];
    const auto steps = static_cast<unsigned>(numbers["--steps"]);

    char folder[] = "/tmp/kv-campaign-XXXXXX";
    if (!::mkdtemp(folder)) return std::perror("kv-campaign: /tmp"), 3;
    std::map<std::string, Told> by_fault;
    Told all;
    bool emulated = false;
    std::string bad, nothing;
    const auto begin = std::chrono::steady_clock::now();
    const auto passed = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
    for (uint64_t i = 0; each || bad.empty(); ++i) {
        if (most != 0 ? i >= most : passed() >= static_cast<double>(numbers["--seconds"])) break;
        Round round;
        round.seed = numbers["--seed"] + i;
        round.verifies = each || numbers["--verify-reads"] != 0;
        round.fault = each ? faults[i] : texts["--fault"].empty() ? campaign::draw_fault(round.seed) : texts["--fault"];
        campaign::run_apart({texts["--wrapper"], texts["--plugin"], folder}, steps,
                            static_cast<unsigned>(numbers["--patience"]), round);
        const std::string wrong = verdict(round);
        for (Told *told : {&all, &by_fault[round.fault]}) {
            ++told->rounds;
            told->answers += round.answers;
            told->errors += round.errors;
            told->damaged += round.damaged;
            told->no_cache += round.no_cache.empty() ? 0 : 1;
            told->ended += round.ended.empty() ? 0 : 1;
            told->bad += wrong.empty() ? 0 : 1;
        }
        emulated |= round.emulated;
        if (!round.no_cache.empty()) nothing = round.no_cache;
        if (seeds.is_open()) seeds << line_of(round, steps, wrong) << std::flush;
        if (!wrong.empty())
            bad += fmt::format("{}, seed {}, fault {}\n  {}\n", wrong, round.seed, round.fault,
                               repeated_by(round, steps, texts["--plugin"]));
    }
    std::error_code error;
    std::filesystem::remove_all(folder, error);
    const char *const mark = emulated ? " (emulated)" : "";
    for (const auto &[fault, told] : by_fault)
        std::printf("%-44s %5lu rounds %7lu right %6lu errors said %6lu copies found wrong%s%s%s\n", fault.c_str(),
                    told.rounds, told.answers, told.errors, told.damaged,
                    told.no_cache ? fmt::format(", {} without a cache", told.no_cache).c_str() : "",
                    told.ended ? fmt::format(", {} processes ended", told.ended).c_str() : "", mark);
    std::fputs(bad.c_str(), stdout);
    std::printf("%lu rounds in %.0f s, seeds from %lu: %lu answers right, %lu rounds wrong%s\n", all.rounds, passed(),
                numbers["--seed"], all.answers, all.bad, mark);
    if (all.bad != 0) return 1;
    if (all.answers > 0) return 0;
    std::printf("nothing could be asked: %s\n", nothing.empty() ? "no round was right or wrong" : nothing.c_str());
    return 3;
}
