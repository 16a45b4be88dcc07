// SPDX-License-Identifier: Apache-2.0
#include "tools/decode/flags.hpp"

#include <fmt/format.h>

#include "core/output/size.hpp"
#include "core/output/stream.hpp"
#include "hbf/system.hpp"
#include "tools/signals.hpp"

namespace hbf::tools::decode {
namespace {

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

Exit exit_of(Code code) {
    return code == Code::unsupported ? Exit::untested : code == Code::invalid ? Exit::usage : Exit::error;
}

} // namespace

std::vector<Option> options_of(Flags &flags) {
    return {
        {"--context", &flags.context, "TOKENS",
         "K is 1024; 128K takes 512 MiB a layer (default: 128K, where memory is short 16K)"},
        {"--hbm", &flags.hbm, "SHARE", "of the KV memory that may be in HBM (default: 20%)"},
        {"--layers", Number{&flags.layers, 1, 128}, "N", "that run one after the other (default: 1)"},
        {"--steps", Number{&flags.steps, 1, 10000}, "N", "tokens to decode (default: 10)"},
        {"--block", Number{&flags.block, 16, 256}, "TOKENS", "of a block, a multiple of 16 (default: 64)"},
        {"--device", &flags.device, "NAME", "device or plugin (default: the first with an HBF tier)"},
        {"--seed", Number{&flags.seed}, "N", "of the numbers (default: 1)"},
    };
}

std::optional<Outcome> run(const std::string &command, const Flags &flags, Options &options, int &exit) {
    const auto refuse = [&](Exit how, const std::string &why) {
        clear_progress();
        print_error(command + ": " + why);
        exit = static_cast<int>(how);
        return std::nullopt;
    };
    const auto context = tokens_of(flags.context.empty() ? "128K" : flags.context);
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
    options.name = command;
    catch_signals();
    auto system = System::open();
    if (!system) return refuse(exit_of(system.error().code), system.error().message);
    Device *const device = device_of(*system, flags.device);
    if (!device)
        return refuse(Exit::usage,
                      fmt::format("--device '{}': none of that name is open; 'hbf probe' shows them", flags.device));
    auto outcome =
        run(*device, options, [](const std::string &text) { show_progress(text); }, [] { return interrupted() != 0; });
    clear_progress();
    if (outcome) return std::move(*outcome);
    (void)refuse(exit_of(outcome.error().code), outcome.error().message);
    if (interrupted()) exit = interrupted_exit_code();
    return std::nullopt;
}

} // namespace hbf::tools::decode
