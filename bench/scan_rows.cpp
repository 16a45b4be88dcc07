// SPDX-License-Identifier: Apache-2.0
// What hbf corruption does to memory, beside the tools that people test memory with: each byte written once and compared
// once, all on one core, the region larger than the last-level cache. And its two ways of looking, beside reading alone.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/wait.h>

#include "bench/arena.hpp"
#include "bench/one_cpu.hpp"
#include "bench/rows.hpp"
#include "conformance/integrity/pattern.hpp"
#include "conformance/measure/clock.hpp"
#include "kernels/host/copy.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::bench {
namespace {

using integrity::Datum;
using integrity::Pattern;
using measure::Clock;
using measure::seconds_between;

constexpr uint64_t piece = 1 << 20;
constexpr size_t pieces_per_try = 64;

std::string output_of(const std::string &command) {
    std::FILE *pipe = ::popen((command + " 2>&1").c_str(), "r");
    if (!pipe) throw std::runtime_error("cannot run " + command);
    std::string output;
    char chunk[512];
    while (const size_t got = std::fread(chunk, 1, sizeof chunk, pipe)) output.append(chunk, got);
    const int status = ::pclose(pipe);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        throw std::runtime_error(
            fmt::format("{} failed: {}", command, output.substr(output.size() - std::min<size_t>(300, output.size()))));
    return output;
}

bool installed(const char *name) {
    return std::system(fmt::format("PATH=$PATH:/usr/sbin command -v {} > /dev/null 2>&1", name).c_str()) == 0;
}

// One copying thread that checks as it goes (-W: with vector instructions). It counts what it reads and what it writes.
double stressapptest(uint64_t bytes) {
    const auto output =
        output_of(fmt::format("stressapptest -M {} -s 1 -m 1 -i 0 -C 0 -W --no_errors --stop_on_errors", bytes >> 20));
    const std::string label = "Memory Copy: ", at = "M at ";
    const auto line = output.find(label), rate = output.find(at, line);
    if (line == output.npos || rate == output.npos)
        throw std::runtime_error("stressapptest prints no rate of memory copies");
    return std::stod(output.substr(rate + at.size())) * 1048576 * 1e-9 / 2;
}

// "Solid Bits" writes and compares all of the memory 64 times; what every run does besides is taken off.
double memtester(uint64_t bytes) {
    constexpr double passes = 64;
    const auto seconds = [&](unsigned mask) {
        const auto begin = Clock::now();
        output_of(fmt::format("PATH=$PATH:/usr/sbin MEMTESTER_TEST_MASK={} memtester {}M 1", mask, bytes >> 20));
        return seconds_between(begin, Clock::now());
    };
    const double with = seconds(1u << 8), without = seconds(1u << 30);
    if (with <= without) throw std::runtime_error("memtester took no time for its passes");
    return passes * static_cast<double>(bytes) * 1e-9 / (with - without);
}

// As hbf corruption does it: base pattern and complement in turn, never what was there before.
class Scan {
public:
    explicit Scan(Arena &arena, uint64_t bytes) : arena_(arena), bytes_(bytes) {}
    double run() {
        ++generation_;
        const Datum datum{Pattern::address_hash, generation_ % 2, 7, generation_};
        const auto begin = Clock::now();
        generate(datum, arena_.dst.address, bytes_, 0);
        const auto wrong = compare(datum, arena_.dst.address, bytes_, 0, [](const auto &) {});
        const double seconds = seconds_between(begin, Clock::now());
        if (wrong != 0) throw std::runtime_error(fmt::format("{} words of memory are wrong: no figure", wrong));
        return static_cast<double>(bytes_) * 1e-9 / seconds;
    }

private:
    Arena &arena_;
    uint64_t bytes_;
    uint32_t generation_ = 0;
};

void scan_against(const Settings &settings, Arena &arena, Row row, const char *program, double (*reference)(uint64_t),
                  std::vector<Row> &rows) {
    if (!settings.wants(row.name)) return;
    settings.tell(row.name);
    if (!installed(program)) {
        row.missing = fmt::format("{} is not installed: ./dev packages bench", program);
        rows.push_back(std::move(row));
        return;
    }
    const uint64_t bytes = std::min<uint64_t>(arena.dst.size, 256 << 20);
    const OneCpu here;
    Scan scan(arena, bytes);
    auto figures = interleave(settings, {[&] { return scan.run(); }, [&] { return reference(bytes); }});
    row.ours = figures[0];
    row.theirs = figures[1];
    row.notes.push_back(fmt::format("{} MiB, both on CPU {}", bytes >> 20, here.cpu()));
    if (!arena.cold) row.notes.push_back("cache-hot: too little memory for a cold arena");
    rows.push_back(std::move(row));
}

// One look at cold pieces, beside reading them.
void look_against_read(const Settings &settings, Arena &arena, Row row, const std::function<void(uint64_t)> &look,
                       std::vector<Row> &rows) {
    if (!settings.wants(row.name)) return;
    settings.tell(row.name);
    const OneCpu here;
    arena.deal(piece);
    uint64_t at = 0, sum = 0;
    const auto rate = [&](const std::function<void()> &op) {
        return static_cast<double>(piece) * 1e-9 / median_of(pieces_per_try, [&] { at = arena.next(); }, op);
    };
    auto figures =
        interleave(settings, {[&] { return rate([&] { look(at); }); },
                              [&] { return rate([&] { sum += kernels::read_all(arena.src.address + at, piece); }); }});
    row.ours = figures[0];
    row.theirs = figures[1];
    if (sum == 0) row.notes.push_back("all bytes read sum up to nothing"); // keeps the reads
    if (!arena.cold) row.notes.push_back("cache-hot: too little memory for a cold arena");
    rows.push_back(std::move(row));
}

} // namespace

void scan_rows(const Settings &settings, System &system, std::vector<Row> &rows) {
    const char *const scan = "corruption scan, one core, against ", *const verify = "pattern verify, cold, one core",
                      *const crc = "CRC-32C, cold, one core";
    const std::string sat = scan + std::string("stressapptest"), mt = scan + std::string("memtester");
    if (!settings.wants(sat) && !settings.wants(mt) && !settings.wants(verify) && !settings.wants(crc)) return;
    Arena arena(system);
    look_against_read(
        settings, arena, {verify, "GB/s", "reading", Bar::ratio_at_least, 0.80, {}, {}, {}, {}},
        [&](uint64_t at) {
            if (kernels::pattern_verify(arena.src.address + at, piece, {1, 1, false}, at).wrong_words)
                throw std::runtime_error("memory is wrong: no figure");
        },
        rows);
    look_against_read(
        settings, arena, {crc, "GB/s", "reading", Bar::ratio_at_least, 0.90, {}, {}, {}, {}},
        [&](uint64_t at) {
            static volatile uint32_t keep;
            for (uint64_t i = 0; i < piece; i += 65536) keep = kernels::crc32c(arena.src.address + at + i, 65536);
            static_cast<void>(keep);
        },
        rows);
    scan_against(settings, arena, {sat, "GB/s", "half of the rate it prints", Bar::ratio_at_least, 1.3, {}, {}, {}, {}},
                 "stressapptest", stressapptest, rows);
    scan_against(settings, arena, {mt, "GB/s", "Solid Bits", Bar::ratio_at_least, 1.0, {}, {}, {}, {}}, "memtester",
                 memtester, rows);
}

} // namespace hbf::bench
