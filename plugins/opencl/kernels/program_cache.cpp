// SPDX-License-Identifier: Apache-2.0
#include "plugins/opencl/kernels/program_cache.hpp"

#include <vector>

#include <fmt/format.h>

#include "core/loader/sha256.hpp"

namespace hbf::opencl {
namespace {

constexpr size_t largest_file = 64 * 1024 * 1024, most_files = 256;
constexpr std::string_view title = "hbf opencl program 1\n";

std::string file_name(const std::string &key) {
    return loader::sha256_hex(key) + ".bin";
}

// A file: the title, the checksum of what follows it, the key's length, key and program.
std::string file_of(const std::string &key, std::string_view binary) {
    std::string rest = fmt::format("{}\n", key.size()) + key;
    rest.append(binary);
    return std::string(title) + loader::sha256_hex(rest) + "\n" + rest;
}

// The program in it, or why there is none.
Result<std::string> program_in(std::string_view file, const std::string &key) {
    constexpr size_t sum_size = 64;
    if (!file.starts_with(title)) return fail(Code::invalid, "it is no program of this version of HBF");
    file.remove_prefix(title.size());
    if (file.size() <= sum_size || file[sum_size] != '\n') return fail(Code::invalid, "it is cut off");
    const std::string_view sum = file.substr(0, sum_size), rest = file.substr(sum_size + 1);
    if (loader::sha256_hex(rest) != sum) return fail(Code::data_loss, "its checksum does not match");
    const std::string begin = fmt::format("{}\n", key.size()) + key;
    if (!rest.starts_with(begin)) return fail(Code::invalid, "it is for another kernel, device or driver");
    return std::string(rest.substr(begin.size()));
}

} // namespace

ProgramCache::ProgramCache(const sdk::Log &log) : log_(log) {
    std::vector<std::string> notes;
    folder_ = CacheFolder::open("opencl", notes);
    for (const std::string &note : notes) log_.warning(note + "; each kernel is compiled anew");
}

std::string ProgramCache::key(const Ability &ability, std::string_view source, std::string_view options) {
    std::string key;
    for (const std::string_view part : {std::string_view(ability.platform.name), std::string_view(ability.platform.version),
                                        std::string_view(ability.device.name), std::string_view(ability.device.version),
                                        std::string_view(ability.device.driver), options})
        key += fmt::format("{}:{}\n", part.size(), part);
    return key + loader::sha256_hex(source) + "\n";
}

std::optional<std::string> ProgramCache::find(const std::string &key, std::string_view what) const {
    const auto file = folder_.read(file_name(key), largest_file);
    if (!file && file.error().code == Code::unavailable) return std::nullopt;
    const auto program = file ? program_in(*file, key) : file;
    if (program) return *program;
    log_.warning(fmt::format("kernel {}: what the opencl cache has of it is not used, {}; it is compiled anew", what,
                             program.error().message));
    return std::nullopt;
}

void ProgramCache::store(const std::string &key, std::string_view binary, std::string_view what) {
    if (!folder_) return;
    const auto written = folder_.write(file_name(key), file_of(key, binary), most_files);
    if (written || told_.exchange(true)) return;
    log_.warning(fmt::format("kernel {}: cannot be kept in the opencl cache: {}; it will be compiled anew next time", what,
                             written.error().message));
}

} // namespace hbf::opencl
