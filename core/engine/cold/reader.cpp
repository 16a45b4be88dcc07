// SPDX-License-Identifier: Apache-2.0
#include "core/engine/cold/reader.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "core/engine/identity/identity.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::kv::cold {
namespace {

constexpr uint32_t most_moves = 16; // a granule that is moved faster than it can be read is a miss

std::string name_of(const Key &key) {
    return fmt::format("granule {}/{}", to_hex(key.block).substr(0, 12), key.part);
}

} // namespace

Result<std::unique_ptr<Reader>> Reader::create(std::shared_ptr<Store> store, uint32_t depth) {
    if (depth == 0 || depth > 4096)
        return fail(Code::invalid, fmt::format("a reader of depth {}: 1 to 4096 are possible", depth));
    return std::make_unique<Reader>(std::move(store), depth);
}

Reader::Reader(std::shared_ptr<Store> store, uint32_t depth)
    : store_(std::move(store)), slots_(depth), io_(make_io(depth, store_->uring, store_->calls)) {
    free_.reserve(depth);
    for (uint32_t id = depth; id > 0; --id) free_.push_back(id - 1);
}

Reader::~Reader() {
    ReadDone done[16];
    while (in_flight() > 0 && finish(done, true) > 0) {
    }
}

void Reader::begin(const ReadRequest &request) {
    const uint32_t id = free_.back();
    slots_[id] = {request, {}, false, 0};
    if (!find(slots_[id])) return;
    free_.pop_back();
    start(id);
}

bool Reader::find(Slot &slot) {
    const auto at = store_->locate(slot.request.key);
    if (!at || slot.moves++ == most_moves) {
        ++store_->counters.misses;
        give(slot, fail(Code::unavailable, name_of(slot.request.key) + " is not in the cold tier"));
        return false;
    }
    const uint64_t bytes = whole_pages(at->place.length);
    if (reinterpret_cast<uintptr_t>(slot.request.to) % page_size != 0 || slot.request.room < bytes) {
        give(slot, fail(Code::invalid,
                        fmt::format("{}: is read into {} bytes at a multiple of {}, not {} at {}", name_of(slot.request.key),
                                    bytes, page_size, slot.request.room, static_cast<const void *>(slot.request.to))));
        return false;
    }
    slot.at = *at;
    return true;
}

void Reader::start(uint32_t id) {
    const Slot &slot = slots_[id];
    io_->begin({slot.at.fd, false, slot.request.to, static_cast<uint32_t>(whole_pages(slot.at.place.length)),
                slot.at.place.offset(), id});
}

size_t Reader::finish(std::span<ReadDone> done, bool wait) {
    IoDone all[32];
    // No more than are given out at once: while checksums are taken the medium waits for those that take their place.
    const std::span io(all, std::min<size_t>(std::size(all), done.size()));
    for (bool first = true; first || (wait && done_.empty() && free_.size() < slots_.size()); first = false) {
        const size_t count = io_->finish(io, wait && done_.empty());
        for (size_t i = 0; i < count; ++i) look_at(io[i]);
    }
    size_t count = 0;
    for (; count < done.size() && !done_.empty(); done_.pop_front()) done[count++] = std::move(done_.front());
    return count;
}

void Reader::look_at(const IoDone &io) {
    Slot &slot = slots_[io.id];
    const Place &place = slot.at.place;
    const bool right = io.error == 0 && kernels::crc32c(slot.request.to, place.length) == place.crc;
    // Looked at when all bytes are here: had the segment been used anew while the bytes came, this word would have changed
    // before they did.
    const bool same_life = store_->word(place.segment) == slot.at.word;
    if (right && same_life) {
        ++store_->counters.reads;
        store_->counters.read_bytes += place.length;
        if (slot.again) ++store_->counters.reread;
        give(slot, Granule{place.length, place.generation, place.crc});
        free_.push_back(io.id);
        return;
    }
    const Place before = place;
    if (!find(slot)) {
        free_.push_back(io.id);
        return;
    }
    if (same_life && slot.at.place == before) {
        if (slot.again) {
            ++store_->counters.lost;
            store_->quarantine(slot.request.key, before);
            const std::string why = io.error != 0 ? fmt::format("cannot be read: {}", std::strerror(io.error))
                                                  : std::string("is damaged: its CRC-32C does not match");
            const std::string file = store_->folder.label(segment_name(before.segment));
            give(slot,
                 fail(Code::data_loss, fmt::format("{}: {} at {} {}", file, name_of(slot.request.key), before.offset(), why),
                      before.offset(), file));
            free_.push_back(io.id);
            return;
        }
        slot.again = true; // a flip on the way is gone the next time, one on the medium is not
    } else {
        slot.again = false;
    }
    start(io.id);
}

Result<Granule> Reader::read(const Key &key, std::byte *to, uint64_t room) {
    begin({key, to, room, 0});
    ReadDone done;
    while (finish({&done, 1}, true) == 0) {
    }
    return std::move(done.result);
}

} // namespace hbf::kv::cold
