// SPDX-License-Identifier: Apache-2.0
// hbf bench: what the engine does, measured beside what it is compared with.
#include <memory>

#include "core/output/stream.hpp"
#include "tools/commands.hpp"
#include "tools/decode/flags.hpp"
#include "tools/decode/report.hpp"
#include "tools/emulated.hpp"

namespace hbf::tools {
namespace {

struct Flags : decode::Flags {
    bool json = false;
};

int run_decode(const Flags &flags) {
    decode::Options options;
    int exit = 0;
    const auto outcome = decode::run("hbf bench decode", flags, options, exit);
    if (!outcome) return exit;
    print(flags.json ? decode::report_json(options, *outcome).dump()
                     : said_emulated(decode::report_text(options, *outcome)));
    return static_cast<int>(decode::passed(*outcome) ? Exit::pass : Exit::fail);
}

Command decode_command() {
    auto flags = std::make_shared<Flags>();
    Command command;
    command.name = "decode";
    command.summary = "tokens decoded over a long context, with all of it and a share of it in the hottest tier";
    command.description =
        "A context of made-up keys and values, of the layer geometry of Llama-3.1-8B, is put into a KV "
        "cache; then tokens are "
        "decoded: exact attention over all of it, each block where it is. Twice: with room for all in "
        "HBM, and with room for "
        "a share, the rest in HBF. Both have to give the same bits. Then selectively, over the blocks that "
        "matter, with what that reads and how far it is from exact.";
    command.examples = "  hbf bench decode                             128K tokens, a fifth of them in HBM\n"
                       "  hbf bench decode --context 32K --hbm 5%      less of both\n"
                       "  hbf bench decode --layers 4 --json           for programs\n";
    command.options = decode::options_of(*flags);
    command.options.push_back({"--json", &flags->json, "", "one JSON document (hbf.bench.decode)"});
    command.exits = {{Exit::pass, "both gave the same bits, within the error of single precision"},
                     {Exit::fail, "they did not"},
                     {Exit::error, "it did not come to an end: too little memory, a device that failed"},
                     {Exit::untested, "no device here has HBM, and HBF that the CPU can reach"}};
    command.run = [flags] { return run_decode(*flags); };
    return command;
}

} // namespace

Command bench_command() {
    Command command;
    command.name = "bench";
    command.summary = "the engine, measured beside what it is compared with";
    command.description = "For every figure of the project beside its reference: ./dev bench, in a checkout.";
    command.group = "Measure and test";
    command.examples = "  hbf bench decode       a long context with a fifth of it in HBM\n";
    command.children = {decode_command()};
    return command;
}

} // namespace hbf::tools
