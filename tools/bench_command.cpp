// SPDX-License-Identifier: Apache-2.0
// hbf bench: what the engine does, measured beside what it is compared with.
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "core/output/size.hpp"
#include "core/output/stream.hpp"
#include "hbf/system.hpp"
#include "tools/commands.hpp"
#include "tools/decode/report.hpp"
#include "tools/signals.hpp"

namespace hbf::tools {
namespace {

struct Flags {
    std::string context = "128K", hbm = "20%", device;
    uint64_t layers = 1, steps = 10, block = 64, seed = 1;
    bool json = false;
};

int refuse(Exit exit, const std::string &why) {
    clear_progress();
    print_error("hbf bench decode: " + why);
    return static_cast<int>(exit);
}

// "128K" and "131072": tokens, K of 1024.
std::optional<uint64_t> tokens_of(std::string text) {
    uint64_t factor = 1;
    if (!text.empty() && (text.back() == 'K' || text.back() == 'k' || text.back() == 'M')) {
        factor = text.back() == 'M' ? 1024 * 1024 : 1024;
        text.pop_back();
    }
    const auto number = parse_number(text);
    if (!number || *number == 0 || *number > (uint64_t{1} << 24) / factor) return std::nullopt;
    return *number * factor;
}

std::optional<double> share_of(std::string text) {
    if (text.empty() || text.back() != '%') return std::nullopt;
    text.pop_back();
    const auto percent = parse_real(text);
    if (!percent || !(*percent > 0) || *percent > 100) return std::nullopt;
    return *percent / 100;
}

Device *device_of(System &system, const std::string &name) {
    for (Device &device : system.devices()) {
        if (name.empty() ? device.find_tier("hbf0").has_value() : device.id() == name || device.plugin_name() == name)
            return &device;
    }
    return nullptr;
}

int run_decode(const Flags &flags) {
    decode::Options options;
    const auto context = tokens_of(flags.context);
    if (!context)
        return refuse(Exit::usage, fmt::format("--context '{}': tokens, such as 131072 or 128K, up to 16M", flags.context));
    const auto share = share_of(flags.hbm);
    if (!share) return refuse(Exit::usage, fmt::format("--hbm '{}': a share of the KV memory, such as 20%", flags.hbm));
    options.context = *context;
    options.hbm_share = *share;
    options.layers = static_cast<uint32_t>(flags.layers);
    options.steps = static_cast<uint32_t>(flags.steps);
    options.block = static_cast<uint32_t>(flags.block);
    options.seed = flags.seed;
    options.name = "hbf bench decode";
    catch_signals();
    auto system = System::open();
    if (!system)
        return refuse(system.error().code == Code::unsupported ? Exit::untested : Exit::error, system.error().message);
    Device *const device = device_of(*system, flags.device);
    if (!device)
        return refuse(Exit::usage,
                      fmt::format("--device '{}': none of that name is open; 'hbf probe' shows them", flags.device));
    const auto outcome = decode::run(
        *device, options, [](const std::string &text) { show_progress(text); }, [] { return interrupted() != 0; });
    clear_progress();
    if (!outcome) {
        if (interrupted()) {
            (void)refuse(Exit::error, outcome.error().message);
            return interrupted_exit_code();
        }
        const Code why = outcome.error().code;
        return refuse(why == Code::unsupported ? Exit::untested
                      : why == Code::invalid   ? Exit::usage
                                               : Exit::error,
                      outcome.error().message);
    }
    print(flags.json ? decode::report_json(options, *outcome).dump() : decode::report_text(options, *outcome));
    return static_cast<int>(decode::passed(*outcome) ? Exit::pass : Exit::fail);
}

Command decode_command() {
    auto flags = std::make_shared<Flags>();
    Command command;
    command.name = "decode";
    command.summary = "tokens decoded over a long context, with all of it and a share of it in the hottest tier";
    command.description = "A context of made-up keys and values, of the layer geometry of Llama-3.1-8B, is put into a KV "
                          "cache; then tokens are "
                          "decoded: exact attention over all of it, each block where it is. Twice: with room for all in "
                          "HBM, and with room for "
                          "a share, the rest in HBF. Both have to give the same bits.";
    command.examples = "  hbf bench decode                             128K tokens, a fifth of them in HBM\n"
                       "  hbf bench decode --context 32K --hbm 5%      less of both\n"
                       "  hbf bench decode --layers 4 --json           for programs\n";
    command.options = {
        {"--context", &flags->context, "TOKENS", "K is 1024 (default: 128K; 512 MiB a layer)"},
        {"--hbm", &flags->hbm, "SHARE", "of the KV memory that may be in HBM (default: 20%)"},
        {"--layers", Number{&flags->layers, 1, 128}, "N", "that run one after the other (default: 1)"},
        {"--steps", Number{&flags->steps, 1, 10000}, "N", "tokens to decode (default: 10)"},
        {"--block", Number{&flags->block, 16, 256}, "TOKENS", "of a block, a multiple of 16 (default: 64)"},
        {"--device", &flags->device, "NAME", "device or plugin (default: the first with an HBF tier)"},
        {"--seed", Number{&flags->seed}, "N", "of the numbers (default: 1)"},
        {"--json", &flags->json, "", "one JSON document (hbf.bench.decode)"},
    };
    command.exits = {{Exit::pass, "both gave the same bits, within the error of single precision"},
                     {Exit::fail, "they did not"},
                     {Exit::error, "it did not come to an end: too little memory, a device that failed"},
                     {Exit::untested, "no device here has HBM and HBF that the CPU can reach"}};
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
