// SPDX-License-Identifier: Apache-2.0
// Combinations of settings that could not work: said before anything is opened.
#include <fmt/format.h>

#include "core/engine/config/keys.hpp"

namespace hbf::kv {
namespace config {

std::vector<std::string> judge(const Settings &s) {
    std::vector<std::string> problems;
    const auto &heat = s.scheduler;
    const auto refuse = [&](std::string sentence) { problems.push_back(std::move(sentence)); };
    if (heat.hbm_threshold >= 1)
        refuse(
            fmt::format("scheduler.hbm_threshold = {}: no block is ever hotter than 1, so none would come back to HBM and "
                        "decoding would stall; give less than 1 (0.95)",
                        heat.hbm_threshold));
    if (heat.hbf_threshold >= heat.hbm_threshold)
        refuse(
            fmt::format("scheduler.hbf_threshold = {} is not below scheduler.hbm_threshold = {}: a block would be sent up "
                        "and down at the same heat, for ever",
                        heat.hbf_threshold, heat.hbm_threshold));
    if (heat.cold_threshold >= heat.hbf_threshold)
        refuse(
            fmt::format("scheduler.cold_threshold = {} is not below scheduler.hbf_threshold = {}: nothing could stay in HBF",
                        heat.cold_threshold, heat.hbf_threshold));
    if (heat.ahas_alpha && *heat.ahas_alpha >= 1)
        refuse("scheduler.ahas_alpha = 1: heat would never decay and the first blocks would keep HBM for ever; give less "
               "than 1 (0.999) or \"auto\"");
    if (heat.ahas_alpha && *heat.ahas_alpha <= 0)
        refuse("scheduler.ahas_alpha = 0: heat would be forgotten at once; give more than 0 (0.999) or \"auto\"");
    const auto zero = [&](std::string_view key, const std::optional<double> &size, std::string_view instead) {
        if (size && *size <= 0) refuse(fmt::format("{} = 0: {}", key, instead));
    };
    zero("hbm.size_gb", s.hbm.size_gb, "the blocks being written have to be somewhere; give a size or \"auto\"");
    zero("hbf.size_gb", s.hbf.size_gb, "leave the place out instead, or give a size or \"auto\"");
    zero("cold_storage.size_gb", s.cold_storage.size_gb, "leave the place out instead, or give a size or \"auto\"");
    if (s.kv.chunk_align % 16 != 0)
        refuse(fmt::format("kv.chunk_align = {}: kernels take blocks of multiples of 16 tokens; give such a multiple",
                           s.kv.chunk_align));
    else if (s.kv.chunk_size % s.kv.chunk_align != 0)
        refuse(fmt::format("kv.chunk_size = {} is no multiple of kv.chunk_align = {}", s.kv.chunk_size, s.kv.chunk_align));
    if (s.kv.swap_threshold <= 0)
        refuse(
            "kv.swap_threshold = 0: every block would be moved down as soon as it is there, and up again to be read; give "
            "more than 0 (0.6)");
    return problems;
}

} // namespace config

Result<> check_settings(const Settings &settings) {
    std::vector<std::string> problems;
    const auto values = config::texts(settings);
    Settings scratch;
    for (size_t i = 0; i < values.size(); ++i) {
        const config::Key &key = config::table()[i];
        if (std::string wrong = config::assign(key, values[i], scratch); !wrong.empty())
            problems.push_back(fmt::format("{}: {}", key.facts.name, wrong));
    }
    if (problems.empty()) problems = config::judge(settings);
    if (problems.empty()) return {};
    return fail(Code::invalid, fmt::format("{}", fmt::join(problems, "\n")));
}

} // namespace hbf::kv
