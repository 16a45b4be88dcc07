// SPDX-License-Identifier: Apache-2.0
#include "core/engine/blocks/cold_reader.hpp"

#include "core/engine/trace/trace.hpp"

namespace hbf::kv {
namespace {

constexpr uint32_t depth = 32; // parts in flight

} // namespace

ColdReader::~ColdReader() {
    readers_.clear(); // what is in flight goes there
    if (memory_.region) (void)cpu_.device.free(memory_.region);
}

Result<cold::Reader *> ColdReader::ready(const ColdLog &log, uint64_t bytes) {
    if (!memory_.region) {
        auto region = cpu_.device.allocate(cpu_.info.index, room_ + cold::page_size);
        if (!region) return tl::unexpected(std::move(region.error()));
        memory_ = *region;
        const uint64_t odd = reinterpret_cast<uintptr_t>(memory_.address) % cold::page_size;
        offset_ = odd == 0 ? 0 : cold::page_size - odd;
        crc_.resize(most_parts());
    }
    if (auto fine = cpu_.device.written_by_cpu(memory_.region, offset_, bytes); !fine)
        return tl::unexpected(std::move(fine.error()));
    for (const auto &[whose, reader] : readers_)
        if (whose == &log) return reader.get();
    auto made = log.log->make_reader(depth);
    if (!made) return tl::unexpected(std::move(made.error()));
    return readers_.emplace_back(&log, std::move(*made)).second.get();
}

void ColdReader::fetch(const ColdLog &log, std::span<Piece> pieces) {
    uint64_t parts = 0;
    for (const Piece &piece : pieces) parts += piece.parts;
    const trace::Span span("fetch from the log", parts * granule_size);
    const auto reader = ready(log, parts * granule_size);
    uint64_t before = 0;
    for (Piece &piece : pieces) {
        if (!reader) {
            piece.outcome = tl::unexpected(reader.error());
            continue;
        }
        const uint64_t at = offset_ + before * granule_size;
        piece.there = {memory_.region, at, memory_.address + at, crc_.data() + before};
        before += piece.parts;
    }
    if (!reader) return;
    uint64_t begun = 0, done = 0; // parts
    const auto take_one = [&] {
        cold::ReadDone finished;
        if ((*reader)->finish({&finished, 1}, true) == 0) return;
        ++done;
        Piece &piece = pieces[finished.tag >> 32];
        const auto &result = finished.result;
        if (!result)
            piece.outcome = tl::unexpected(result.error());
        else if (result->generation != piece.number || result->length != granule_size)
            piece.outcome = fail(Code::unavailable, "the cold log has another writing of this block by now");
        else
            piece.there.crc[finished.tag & 0xffffffff] = result->crc;
    };
    for (uint64_t i = 0; i < pieces.size(); ++i) {
        for (uint32_t part = 0; part < pieces[i].parts; ++part, ++begun) {
            while (!(*reader)->has_room()) take_one();
            (*reader)->begin(
                {{pieces[i].key, part}, pieces[i].there.address + part * granule_size, granule_size, i << 32 | part});
        }
    }
    while (done < begun) take_one();
}

Result<Spot> ColdReader::fetch(const ColdLog &log, const Identity &key, uint64_t number, uint32_t parts) {
    Piece piece{key, number, parts, {}, {}};
    fetch(log, {&piece, 1});
    if (!piece.outcome) return tl::unexpected(std::move(piece.outcome.error()));
    return piece.there;
}

} // namespace hbf::kv
