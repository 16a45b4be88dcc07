// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "conformance/suite/integrity/pairs.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::conformance {
namespace {

using integrity::Arena;
using integrity::Datum;
using integrity::Pattern;

constexpr uint64_t room = 4 * HBF_CRC_PIECE;

struct Copy {
    uint64_t src_offset, dst_offset, size;
};

} // namespace

// One word for each 64 KiB counted from where the copy starts, whatever the offsets; of the bytes in the source.
HBF_CASE("integrity.crc.is_of_bytes_read",
         {.rules = {"HBF-INT-1"},
          .kills = {"crc_of_destination", "crc_of_last_piece_wrong", "crc_one_word_too_many"},
          .needs = need::crc | need::cpu_tier}) {
    auto &device = context.device();
    Arena arena(device, device.dma_tiers(), room);
    if (arena.places().empty()) context.not_observable("no tier has room for two regions of 64 KiB");
    Random random(context.seed());
    const Datum datum{Pattern::address_hash, 0, data_seed(context), 1};
    constexpr uint32_t untouched = 0x5AFEC0DE;
    double bits = 0;
    for (const auto &from : arena.places()) {
        std::vector<std::byte> source(from.bytes);
        generate(datum, source.data(), source.size(), 0);
        arena.access().write(from.source, 0, source);
        for (const auto &to : arena.places()) {
            const uint64_t bytes = std::min(from.bytes, to.bytes);
            std::vector<Copy> copies{{0, 0, bytes}, {0, 0, 1}, {3, 61, std::min(bytes, HBF_CRC_PIECE + 100ul) - 61}};
            for (uint64_t i = context.scaled(6, 60, 600); i-- > 0;) {
                const uint64_t size = random.between(1, bytes);
                copies.push_back({random.below(bytes - size + 1), random.below(bytes - size + 1), size});
            }
            for (const Copy &copy : copies) {
                const uint64_t pieces = (copy.size + HBF_CRC_PIECE - 1) / HBF_CRC_PIECE;
                std::vector<uint32_t> crc(pieces + 1, untouched);
                device.must_run(arena.queue(), {copy_command(to.destination.region, copy.dst_offset, from.source.region,
                                                             copy.src_offset, copy.size, crc.data())});
                for (uint64_t i = 0; i < pieces; ++i) {
                    const uint64_t at = copy.src_offset + i * HBF_CRC_PIECE;
                    const uint64_t size = std::min<uint64_t>(HBF_CRC_PIECE, copy.src_offset + copy.size - at);
                    const uint32_t due = kernels::crc32c(source.data() + at, size);
                    context.count_check();
                    if (crc[i] == due) continue;
                    Evidence evidence;
                    evidence.fault_class = fault::wrong_value;
                    evidence.tier = device.tier(from.tier).name;
                    evidence.region = from.source.region;
                    evidence.offset = at;
                    evidence.expected = due;
                    evidence.actual = crc[i];
                    evidence.width = 4;
                    const auto there = arena.access().read(to.destination, copy.dst_offset + i * HBF_CRC_PIECE, size);
                    evidence.detail = fmt::format("piece {} of a copy of {} bytes from {} offset {:#x} to {} offset {:#x}: "
                                                  "checksum {:#010x}, of the bytes "
                                                  "in the source {:#010x}{}",
                                                  i, copy.size, device.tier(from.tier).name, copy.src_offset,
                                                  device.tier(to.tier).name, copy.dst_offset, crc[i], due,
                                                  crc[i] == kernels::crc32c(there.data(), size)
                                                      ? "; it is that of the destination, which differs"
                                                      : "");
                    const auto reason = evidence.detail;
                    fail(reason, std::move(evidence));
                }
                context.check(crc[pieces] == untouched, "a copy of {} bytes wrote more than {} checksums", copy.size,
                              pieces);
                bits += 8.0 * static_cast<double>(copy.size);
            }
        }
    }
    context.metric({.name = "integrity.bits_checksummed", .unit = "bits", .value = bits});
}

} // namespace hbf::conformance
