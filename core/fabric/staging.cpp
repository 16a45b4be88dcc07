// SPDX-License-Identifier: Apache-2.0
// Bytes through the bounce buffers: copies between devices that share no path, and regions read for their checksums where
// the CPU cannot. Two halves, so that one fills while the other empties.
#include <algorithm>

#include <fmt/format.h>

#include "core/fabric/program.hpp"
#include "kernels/host/crc32c.hpp"

namespace hbf::fabric {
namespace {

constexpr uint64_t cpu_budget = 4 << 20; // bytes checked by the CPU in one call: polling never takes long

// Half a copy: between a region and one of the buffers.
Op to_bounce(const Op &op, hbf_region bounce, uint64_t bounce_offset, bool destination_side, uint64_t begin, uint64_t size) {
    Op half{};
    half.kind = Command::Kind::copy;
    half.size = size;
    half.dst_handle = bounce;
    half.dst_offset = bounce_offset;
    half.src_handle = destination_side ? op.dst->handle : op.src->handle;
    half.src_offset = (destination_side ? op.dst_offset : op.src_offset) + begin;
    half.src_software = destination_side ? op.dst->software : op.src->software;
    half.coherence = half.src_software;
    return half;
}

Op from_bounce(const Op &op, hbf_region bounce, uint64_t bounce_offset, uint64_t begin, uint64_t size) {
    Op half{};
    half.kind = Command::Kind::copy;
    half.size = size;
    half.dst_handle = op.dst->handle;
    half.dst_offset = op.dst_offset + begin;
    half.dst_software = op.dst->software;
    half.coherence = 2u * half.dst_software;
    half.src_handle = bounce;
    half.src_offset = bounce_offset;
    return half;
}

} // namespace

// The checksum of one piece, `begin` bytes from the copy's start: kept, or compared.
bool Program::check_piece(const Op &op, uint64_t begin, uint64_t size, uint32_t found, bool compare) noexcept {
    uint32_t &crc = entry_->data.crc[op.crc_begin + begin / granule_size];
    if (!compare) crc = found;
    if (crc == found) return true;
    const uint64_t offset = op.dst_offset + begin;
    try {
        fail_with(Code::data_loss,
                  fmt::format("bytes {} to {} of {} are not what was copied there: CRC-32C {:08x} {}, {:08x} sent", offset,
                              offset + size, op.dst->name, found, op.dst_kernel ? "by the device's kernel" : "read back",
                              crc),
                  offset, op.dst->name);
    } catch (...) {
        fail_with(Code::data_loss, "out of memory", offset, {});
    }
    return false;
}

// From `begin`, a multiple of the granule: of bytes that are here, and of words that a kernel wrote.
bool Program::check_pieces(const Op &op, const std::byte *bytes, uint64_t begin, uint64_t size, bool compare) noexcept {
    for (uint64_t done = 0; done < size; done += granule_size) {
        const uint64_t length = std::min(granule_size, size - done);
        if (!check_piece(op, begin + done, length, kernels::crc32c(bytes + done, length), compare)) return false;
    }
    return true;
}

bool Program::check_words(const Op &op, const uint32_t *words, uint64_t begin, uint64_t size, bool compare) noexcept {
    for (uint64_t done = 0; done < size; done += granule_size)
        if (!check_piece(op, begin + done, std::min(granule_size, size - done), *words++, compare)) return false;
    return true;
}

Program::Move Program::read(const Op &op, bool destination) noexcept {
    const RegionSlot &slot = destination ? *op.dst : *op.src;
    const bool kernel = destination ? op.dst_kernel : op.src_kernel;
    if (!kernel && slot.cpu_readable()) {
        const std::byte *bytes = slot.address + (destination ? op.dst_offset : op.src_offset);
        for (uint64_t budget = cpu_budget; moved_ < op.size; budget -= granule_size) {
            if (budget == 0) return Move::pending;
            const uint64_t size = std::min(granule_size, op.size - moved_);
            if (!check_pieces(op, bytes + moved_, moved_, size, destination)) return Move::failed;
            moved_ += size;
        }
        return Move::done;
    }
    Auxiliary &auxiliary = *find(destination ? *op.dst_device : *op.src_device);
    for (;;) {
        bool stuck = true;
        for (unsigned i = 0; i < 2; ++i) {
            Half &half = halves_[i];
            if (half.state == Half::State::reading && auxiliary.reached(half.value)) {
                if (kernel ? !check_words(op, auxiliary.words(i, bounce_), half.begin, half.size, destination)
                           : !check_pieces(op, bounce_.data(i), half.begin, half.size, destination))
                    return Move::failed;
                moved_ += half.size;
                half.state = Half::State::empty;
                stuck = false;
            }
            if (half.state == Half::State::empty && next_ < op.size && auxiliary.has_room()) {
                if (kernel ? !checksum_half(auxiliary, op, i, destination, slot)
                           : !read_half(auxiliary, op, i, destination, slot))
                    return Move::failed;
                stuck = false;
            }
        }
        if (moved_ == op.size) return Move::done;
        if (stuck) return Move::pending;
        if (!look()) return Move::failed;
    }
}

Program::Move Program::stage(Op &op) noexcept {
    Auxiliary &source = *find(*op.src_device), &destination = *find(*op.dst_device);
    for (;;) {
        bool stuck = true;
        for (unsigned i = 0; i < 2; ++i) {
            Half &half = halves_[i];
            if (half.state == Half::State::writing && destination.reached(half.value)) {
                moved_ += half.size;
                half.state = Half::State::empty;
                stuck = false;
            }
            if (half.state == Half::State::reading && source.reached(half.value) && destination.has_room()) {
                if (op.integrity != Integrity::none) (void)check_pieces(op, bounce_.data(i), half.begin, half.size, false);
                if (!send_half(destination, from_bounce(op, destination.bounce(), i * Bounce::half, half.begin, half.size),
                               half, *op.dst))
                    return Move::failed;
                half.state = Half::State::writing;
                stuck = false;
            }
            if (half.state == Half::State::empty && next_ < op.size && source.has_room()) {
                if (!read_half(source, op, i, false, *op.src)) return Move::failed;
                stuck = false;
            }
        }
        if (moved_ == op.size) return Move::done;
        if (stuck) return Move::pending;
        if (!look()) return Move::failed;
    }
}

// Begins with the next piece of the region: into half i of the bounce buffer.
bool Program::read_half(Auxiliary &auxiliary, const Op &op, unsigned i, bool destination,
                        const RegionSlot &region) noexcept {
    Half &half = halves_[i];
    half.begin = next_;
    half.size = std::min(Bounce::half, op.size - next_);
    const Op read = to_bounce(op, auxiliary.bounce(), i * Bounce::half, destination, half.begin, half.size);
    if (!send_half(auxiliary, read, half, region)) return false;
    half.state = Half::State::reading;
    next_ += half.size;
    return true;
}

// Begins with the checksums of the next pieces of the region, by its device's kernel.
bool Program::checksum_half(Auxiliary &auxiliary, const Op &op, unsigned i, bool destination,
                            const RegionSlot &region) noexcept {
    Half &half = halves_[i];
    half.begin = next_;
    half.size = std::min(CrcKernel::most_bytes, op.size - next_);
    AbiError abi;
    hbf_status status = HBF_OK;
    const uint64_t offset = (destination ? op.dst_offset : op.src_offset) + half.begin;
    if (!auxiliary.send_checksums(region.handle, offset, half.size, i, &half.value, &status, abi.out())) {
        fail_abi(abi, status, &region);
        return false;
    }
    half.state = Half::State::reading;
    next_ += half.size;
    return true;
}

bool Program::send_half(Auxiliary &auxiliary, const Op &op, Half &half, const RegionSlot &region) noexcept {
    AbiError abi;
    hbf_status status = HBF_OK;
    if (auxiliary.send(&op, 1, entry_->data, &half.value, &status, abi.out()) != 0) return true;
    fail_abi(abi, status, &region);
    return false;
}

} // namespace hbf::fabric
